// The owner of a session, and patterns that select the sessions that a command ends.
// Source: MongoDB manual, "killAllSessions", "killAllSessionsByPattern"; drivers' specification of
// sessions.
//
// The function is thread-safe. The types are plain values and not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/wire/generic_arguments.h"

namespace gridmount::wire {

// The digest of a user: the SHA-256 of "name@database". Sessions without a user have the digest of
// the empty text. The field `uid` of a session's document (lsid) has this digest.
using UserDigest = std::array<uint8_t, 32>;

// Returns the digest of `user`, which must be "name@database" or empty. Fails with the error of
// digest() if OpenSSL refuses SHA-256.
Result<UserDigest> digest_of_user(std::string_view user);

struct SessionOwner {
  // The account of the session (Service::account()): a user, or a host that many clients may share.
  std::string account;
  UserDigest user{};
};

// Selects sessions by their id, by their user, or by both. A pattern without an id and without a
// user selects all sessions. If two users use the same id, these are two sessions.
struct SessionPattern {
  std::optional<SessionId> id = {};
  std::optional<UserDigest> user = {};

  bool matches(const SessionId& session, const UserDigest& its_user) const {
    return (!id || *id == session) && (!user || *user == its_user);
  }
};

}  // namespace gridmount::wire
