// The generic arguments, which many commands accept: session, read and write concern, time limit,
// API version. They have the same meaning as on a standalone server, which is not a member of a
// replica set.
// Source: MongoDB 7.0, src/mongo/idl/generic_argument.idl; MongoDB manual, "Read Concern", "Write
// Concern", "Stable API".
//
// The functions are thread-safe. The types are plain values and not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

// The UUID in an lsid, {id: UUID}.
using SessionId = std::array<uint8_t, 16>;

struct WriteConcern {
  bool acknowledged = true;  // false if w is 0, and neither j nor fsync is true
  engine::Durability durability = engine::Durability::kCommitted;
};

struct GenericArguments {
  std::optional<SessionId> session;
  std::optional<std::chrono::milliseconds> max_time;  // empty if maxTimeMS is missing or 0
  WriteConcern write_concern;
  std::optional<bson::ValueView> comment;
  bool api_strict = false;
};

// Says which of these arguments a command accepts. Every command accepts a session, a time limit
// and a comment.
struct GenericRules {
  bool read_concern = false;  // true: accepts "local", "available" and "majority"; false: only
                              // "local"
  bool write_concern = false;
  bool in_api_version_1 = false;
};

// Takes all generic arguments. Errors:
// - APIVersionError (322) and APIStrictError (323);
// - IllegalOperation (20) for transactions, and for read concerns with a time;
// - NotAReplicaSet (123) for the read concern levels "linearizable" and "snapshot";
// - BadValue and FailedToParse for invalid concerns, and for an invalid maxTimeMS;
// - InvalidOptions (72) for concerns that the command does not support, for txnNumber without lsid,
//   and for autocommit or startTransaction without txnNumber;
// - the errors of Arguments for fields of the wrong type.
Result<GenericArguments> read_generic_arguments(Arguments& arguments, const GenericRules& rules);

// session_id_of() reads the session id of an lsid, {id: UUID}. `path` is the lsid's name in error
// messages. Fails with TypeMismatch if the id is not a UUID of subtype 4, and with the errors of
// Arguments. binary_of() returns the UUID, which refers to the bytes of `id`.
Result<SessionId> session_id_of(std::string_view path, bson::View lsid);
bson::Binary binary_of(const SessionId& id);

// Takes the argument `collation`. Returns an empty document if it is absent. Only the store checks
// what is in it (query::Collation::parse()). Fails with TypeMismatch if it is not a document.
Result<bson::View> read_collation(Arguments& arguments);

}  // namespace gridmount::wire
