// The arguments that every command takes: session, concerns, time limit, API version.
// Source: MongoDB 7.0, src/mongo/idl/generic_argument.idl; MongoDB manual, "Read Concern", "Write
// Concern", "Stable API". They mean what they mean to a server that is no member of a replica set.
//
// Thread-safety: values.
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

// A session's `id.id`, a UUID.
using SessionId = std::array<uint8_t, 16>;

struct WriteConcern {
  bool acknowledged = true;  // w is not 0
  engine::Durability durability = engine::Durability::kCommitted;
};

struct GenericArguments {
  std::optional<SessionId> session;
  std::optional<std::chrono::milliseconds> max_time;  // not if 0 was given
  WriteConcern write_concern;
  std::optional<bson::ValueView> comment;
  bool api_strict = false;
};

// What of them a command takes.
struct GenericRules {
  bool read_concern = false;  // every level, not only local
  bool write_concern = false;
  bool in_api_version_1 = false;
};

// Takes them all. Errors: APIVersionError (322), APIStrictError (323), IllegalOperation (20) for
// transactions, NotAReplicaSet (123) for levels of read concern that need one, BadValue and
// FailedToParse for concerns that cannot be, InvalidOptions (72) for those the command has no use
// for.
Result<GenericArguments> read_generic_arguments(Arguments& arguments, const GenericRules& rules);

// {id: UUID}, as sessions are told of.
Result<SessionId> session_id_of(std::string_view path, bson::View lsid);
bson::Binary binary_of(const SessionId& id);

// CommandNotSupported (115) unless it is {locale: "simple"}, which is how strings are compared.
Status check_collation(const std::optional<bson::View>& collation);

}  // namespace gridmount::wire
