// Log-ins of clients and what they may do then.
// Source: MongoDB manual, "Authentication", "Localhost Exception"; drivers' specification
// "Authentication".
//
// Every failed log-in is answered alike (AuthenticationFailed, 18) and logged with its reason.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "engine/wire/auth/login_throttle.h"
#include "engine/wire/auth/role.h"
#include "engine/wire/auth/scram.h"
#include "engine/wire/auth/user.h"
#include "engine/wire/authorizer.h"

namespace gridmount::wire {

struct SaslReply {
  int32_t conversation_id = 0;
  bool done = false;
  std::string payload;
};

// Who a client is.
struct Identity {
  UserName user;
  std::vector<Role> roles;
};

class AccessControl : public Authorizer {
 public:
  // `store` outlives it. `required` false: everybody may do everything, but can log in.
  AccessControl(engine::Store& store, bool required);
  ~AccessControl() override;

  // Clients of TCP have to log in; those of the store's own socket own its folder.
  bool applies_to(const Client& client) const override;
  Status check(const Client& client, const Command& command,
               const std::vector<Privilege>& privileges) const override;

  // saslStart and saslContinue. With `skip_empty_exchange` the proof's answer ends it. A
  // speculative one, inside hello, begins nothing for a user who has no credentials of the
  // mechanism: the driver then goes on with another one, which saslSupportedMechs tells it.
  Result<SaslReply> start(const Client& client, const std::string& database,
                          std::string_view mechanism, std::string_view payload,
                          bool skip_empty_exchange, bool speculative) GM_EXCLUDES(mutex_);
  Result<SaslReply> proceed(const Client& client, int32_t conversation_id, std::string_view payload)
      GM_EXCLUDES(mutex_);
  // MONGODB-X509: by the certificate that the connection has shown. `user` may be empty.
  Result<UserName> log_in_by_certificate(const Client& client, const std::string& user)
      GM_EXCLUDES(mutex_);
  void log_out(const Client& client) GM_EXCLUDES(mutex_);
  // The client is gone.
  void forget(const Client& client) GM_EXCLUDES(mutex_) { log_out(client); }

  std::optional<Identity> identity(const Client& client) const GM_EXCLUDES(mutex_);
  // False of one that has yet to log in.
  bool may_have_sessions(const Client& client) const GM_EXCLUDES(mutex_);
  // The user as "user@database" if it has logged in, else the host it comes from.
  std::string account(const Client& client) const GM_EXCLUDES(mutex_);
  // Whether listDatabases shows the database to the client.
  bool sees(const Client& client, std::string_view database) const GM_EXCLUDES(mutex_);
  // Whether listCollections shows it where only what the client may use is asked for.
  bool sees(const Client& client, std::string_view database, std::string_view collection) const
      GM_EXCLUDES(mutex_);
  // With which mechanisms a user can log in. One that does not exist has some as well, the same
  // each time, so that nothing tells it from those that do.
  Result<std::vector<ScramMechanism>> mechanisms_of(const UserName& name) const;

  UserDirectory& users() { return users_; }
  // After each change of users: the rights of who is logged in are read anew.
  void users_changed() GM_EXCLUDES(mutex_);

 private:
  struct Exchange {
    int32_t id;
    ScramConversation scram;
    LoginThrottle::Attempt attempt;
    std::string database;
    bool skip_empty_exchange;
  };
  struct Login {
    std::optional<Exchange> exchange;
    std::optional<Identity> identity;
    Permissions permissions;
    uint64_t version = 0;  // of the users, when the permissions were read
  };

  std::vector<ScramMechanism> mechanisms_of(const UserName& name,
                                            const std::optional<User>& user) const;
  // The client's rights; what has changed of its user is read first.
  Result<std::optional<Login>> current_login(const Client& client) const GM_EXCLUDES(mutex_);
  Status may_make_first_user(const Client& client, const Command& command) const;
  void log_in(const Client& client, const User& user) GM_EXCLUDES(mutex_);
  // Logs and counts the failure, and makes the error that the client gets.
  Error refuse(const Client& client, std::string_view mechanism, const UserName& name,
               const LoginThrottle::Attempt& attempt, const std::string& reason);
  // The error of a log-in that has to wait since too many have failed, which is not counted.
  Status check_brake(const Client& client, const UserName& name,
                     const LoginThrottle::Attempt& attempt) const;
  // Evaluates a proof, one at a time: each guess is counted before the next is looked at, however
  // many exchanges were begun before.
  Result<std::string> prove(const Client& client, Exchange& exchange, std::string_view payload)
      GM_EXCLUDES(guesses_);

  const bool required_;
  const std::string decoy_secret_;
  UserDirectory users_;
  LoginThrottle throttle_;
  Mutex guesses_;  // while a proof is evaluated; before the throttle's
  mutable Mutex mutex_;
  mutable std::unordered_map<int32_t, Login> logins_ GM_GUARDED_BY(mutex_);  // by client
  uint64_t version_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
