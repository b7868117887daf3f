#include "engine/wire/generic_arguments.h"

#include <cstring>
#include <limits>
#include <string>

#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/bson/text.h"

namespace gridmount::wire {
namespace {

using bson::Type;

constexpr ErrorCode kNotAReplicaSet{123};
constexpr ErrorCode kApiVersionError{322};
constexpr int64_t kWriteConcernNodesMax = 50;
constexpr uint8_t kUuidSubtype = 4;

std::string shown(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

Status read_api_version(Arguments& arguments, const GenericRules& rules,
                        GenericArguments& generic) {
  GM_ASSIGN(const std::optional<std::string_view> version, arguments.string("apiVersion"));
  GM_ASSIGN(const std::optional<bool> strict, arguments.strict_boolean("apiStrict"));
  GM_ASSIGN(const std::optional<bool> deprecation,
            arguments.strict_boolean("apiDeprecationErrors"));
  if (!version) {
    if (!strict && !deprecation) return {};
    return fail(kApiVersionError, "Provided " +
                                      std::string(strict ? "apiStrict" : "apiDeprecationErrors") +
                                      " without passing apiVersion");
  }
  if (*version != "1") return fail(kApiVersionError, "API version must be \"1\"");
  generic.api_strict = strict.value_or(false);
  if (generic.api_strict && !rules.in_api_version_1) {
    return fail(ErrorCode::kApiStrictError,
                "Provided apiStrict:true, but the command " + std::string(arguments.path()) +
                    " is not in API Version 1. Information on supported commands and migrations "
                    "in API Version 1 can be found at "
                    "https://dochub.mongodb.org/core/manual-versioned-api");
  }
  return {};
}

Status read_session(Arguments& arguments, GenericArguments& generic) {
  GM_ASSIGN(const std::optional<bson::View> lsid, arguments.document("lsid"));
  if (lsid) {
    GM_ASSIGN(generic.session, session_id_of("OperationSessionInfo.lsid", *lsid));
  }
  const std::optional<bson::ValueView> number = arguments.any("txnNumber");
  GM_ASSIGN(const std::optional<bool> autocommit, arguments.strict_boolean("autocommit"));
  GM_ASSIGN(const std::optional<bool> start, arguments.strict_boolean("startTransaction"));
  if (number && number->type() != Type::kInt64) {
    return arguments.wrong_type("txnNumber", *number, "type 'long'");
  }
  if (number && !lsid) {
    return fail(ErrorCode::kInvalidOptions,
                "Transaction number requires a session ID to also be specified");
  }
  if (!number && (autocommit || start)) {
    return fail(ErrorCode::kInvalidOptions,
                "'autocommit' and 'startTransaction' require a transaction number");
  }
  if (number) {
    return fail(ErrorCode::kIllegalOperation,
                "Transaction numbers are only allowed on a replica set member or mongos");
  }
  return {};
}

Status read_read_concern(Arguments& arguments, const GenericRules& rules) {
  GM_ASSIGN(const std::optional<bson::View> given, arguments.document("readConcern"));
  if (!given || given->empty()) return {};
  GM_ASSIGN(Arguments concern, Arguments::of("readConcern", *given));
  GM_ASSIGN(const std::optional<std::string_view> level, concern.string("level"));
  for (const std::string_view time : {"afterClusterTime", "atClusterTime", "afterOpTime"}) {
    if (const std::optional<bson::ValueView> given_time = concern.any(time)) {
      if (time != "afterOpTime" && given_time->type() != Type::kTimestamp) {
        return concern.wrong_type(time, *given_time, "type 'timestamp'");
      }
      return fail(ErrorCode::kIllegalOperation,
                  "Cannot specify " + std::string(time) + " readConcern on a standalone server");
    }
  }
  concern.ignore("provenance");
  GM_TRY(concern.finish());
  if (!level) return {};
  const bool of_members = *level == "linearizable" || *level == "snapshot";
  if (*level != "local" && *level != "available" && *level != "majority" && !of_members) {
    return fail(ErrorCode::kBadValue, "Enumeration value '" + std::string(*level) +
                                          "' for field 'readConcern.level' is not a valid value.");
  }
  if (*level != "local" && !rules.read_concern) {
    return fail(ErrorCode::kInvalidOptions,
                "Command " + std::string(arguments.path()) + " does not support { readConcern: " +
                    shown(*given) + " } :: caused by :: read concern not supported");
  }
  if (of_members) {
    return fail(kNotAReplicaSet,
                "node needs to be a replica set member to use readConcern: " + std::string(*level));
  }
  return {};
}

// {w: {dc: 2}} waits for members with tags. A standalone server has no such members, so this
// function checks only the form.
Status check_tags(bson::View tags) {
  if (tags.empty()) {
    return fail(ErrorCode::kFailedToParse, "tagged write concern requires tags");
  }
  for (const bson::Element tag : tags) {
    if (tag.value.is_number()) continue;
    return fail(ErrorCode::kFailedToParse,
                "tags must be a single level document with only number values; found: " +
                    std::string(tag.key) + ": " + bson::to_text(tag.value));
  }
  return {};
}

Status read_w(bson::ValueView w, WriteConcern& concern) {
  if (w.is_number()) {
    const int64_t nodes = bson::clamped_integer(w).value_or(0);
    if (nodes < 0 || nodes > kWriteConcernNodesMax) {
      return fail(ErrorCode::kFailedToParse,
                  "w has to be a non-negative number and not greater than " +
                      std::to_string(kWriteConcernNodesMax) + "; found: " + bson::to_text(w));
    }
    if (nodes > 1) {
      return fail(ErrorCode::kBadValue, "cannot use 'w' > 1 when a host is not replicated");
    }
    concern.acknowledged = nodes == 1;
    return {};
  }
  if (w.type() == Type::kDocument) return check_tags(w.as_document());
  const bool is_missing = w.type() == Type::kNull || w.type() == Type::kUndefined;
  if (w.type() != Type::kString && !is_missing) {
    return fail(ErrorCode::kFailedToParse,
                "w has to be a number, string, or object; found: " + std::string(type_name(w)));
  }
  const std::string mode(is_missing ? std::string_view() : w.as_string());
  if (mode != "majority") {
    return fail(ErrorCode::kBadValue, "cannot use non-majority 'w' mode \"" + mode +
                                          "\" when a host is not a member of a replica set");
  }
  // One server is its own majority. As on servers, a majority acknowledges a write that is in the
  // journal.
  concern.durability = engine::Durability::kDurable;
  return {};
}

Status read_write_concern(Arguments& arguments, const GenericRules& rules, WriteConcern& concern) {
  GM_ASSIGN(const std::optional<bson::View> given, arguments.document("writeConcern"));
  if (!given) return {};
  if (!rules.write_concern) {
    return fail(ErrorCode::kInvalidOptions, "Command does not support writeConcern");
  }
  GM_ASSIGN(Arguments fields, Arguments::of("writeConcern", *given));
  if (fields.has("w")) {
    GM_ASSIGN(const bson::ValueView w, fields.required("w"));
    GM_TRY(read_w(w, concern));
  }
  GM_ASSIGN(const std::optional<bool> journal, fields.optional_boolean("j"));
  GM_ASSIGN(const bool sync, fields.boolean("fsync"));
  if (sync && journal.value_or(false)) {
    return fail(ErrorCode::kFailedToParse, "fsync and j options cannot be used together");
  }
  if (journal) {
    concern.durability = *journal ? engine::Durability::kDurable : engine::Durability::kCommitted;
  }
  if (sync) concern.durability = engine::Durability::kDurable;
  // A client that asks for the journal waits for the write, so the reply has the result.
  if (concern.durability == engine::Durability::kDurable) concern.acknowledged = true;
  // wtimeout has no effect, because there are no other members to wait for. As on servers, wtimeout
  // may be a value that is not a number.
  if (const std::optional<bson::ValueView> timeout = fields.any("wtimeout")) {
    if (bson::clamped_integer(*timeout).value_or(0) > std::numeric_limits<int32_t>::max()) {
      return fail(ErrorCode::kFailedToParse, "wtimeout must be less than 2^31 milliseconds");
    }
  }
  for (const char* const internal : {"wElectionId", "wOpTime", "getLastError", "provenance"}) {
    fields.ignore(internal);
  }
  return fields.finish();
}

Status read_max_time(Arguments& arguments, GenericArguments& generic) {
  GM_ASSIGN(const std::optional<int64_t> limit, arguments.integer("maxTimeMS"));
  if (!limit) return {};
  const bson::ValueView given = *arguments.any("maxTimeMS");
  if (!given.integral()) {
    return fail(ErrorCode::kFailedToParse,
                "maxTimeMS has a non-integral value: " + bson::to_text(given));
  }
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (*limit < 0 || *limit > kMax) {
    return fail(ErrorCode::kBadValue, std::to_string(*limit) + " value for maxTimeMS is out of " +
                                          "range [0, " + std::to_string(kMax) + "]");
  }
  if (*limit > 0) generic.max_time = std::chrono::milliseconds(*limit);
  return {};
}

}  // namespace

Result<SessionId> session_id_of(std::string_view path, bson::View lsid) {
  GM_ASSIGN(Arguments fields, Arguments::of(path, lsid));
  GM_ASSIGN(const bson::ValueView value, fields.required("id"));
  if (value.type() != Type::kBinary) return fields.wrong_type("id", value, "type 'binData'");
  const bson::Binary uuid = value.as_binary();
  SessionId id{};
  if (uuid.subtype != kUuidSubtype || uuid.size != id.size()) {
    return fail(ErrorCode::kTypeMismatch,
                "BSON field '" + std::string(path) +
                    ".id' is not a UUID, which has subtype 4 and 16 bytes");
  }
  fields.ignore("uid");  // identifies the user; only members of a cluster send it to each other
  GM_TRY(fields.finish());
  std::memcpy(id.data(), uuid.data, id.size());
  return id;
}

bson::Binary binary_of(const SessionId& id) {
  return {kUuidSubtype, id.data(), static_cast<uint32_t>(id.size())};
}

Result<bson::View> read_collation(Arguments& arguments) {
  return arguments.document_or_empty("collation");
}

Result<GenericArguments> read_generic_arguments(Arguments& arguments, const GenericRules& rules) {
  GenericArguments generic;
  GM_TRY(read_api_version(arguments, rules, generic));
  GM_TRY(read_session(arguments, generic));
  GM_TRY(read_read_concern(arguments, rules));
  GM_TRY(read_write_concern(arguments, rules, generic.write_concern));
  GM_TRY(read_max_time(arguments, generic));
  generic.comment = arguments.any("comment");
  // The commands need not know these arguments. Most of them concern clusters and their members,
  // and have no effect on a single server.
  for (const char* const name :
       {"$db", "$readPreference", "$clusterTime", "$queryOptions", "$replData", "$oplogQueryData",
        "$configTime", "$topologyTime", "$audit", "$client", "$configServerState",
        "clientOperationKey", "mayBypassWriteBlocking", "maxTimeMSOpOnly", "help"}) {
    arguments.ignore(name);
  }
  return generic;
}

}  // namespace gridmount::wire
