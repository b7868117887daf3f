#include "engine/wire/protocol/legacy_query.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/legacy_namespace.h"
#include "engine/wire/protocol/reply.h"

namespace gridmount::wire {
namespace {

constexpr std::string_view kCommandSuffix = ".$cmd";

// An error code of MongoDB that has no name.
constexpr ErrorCode kBadNumberToReturn{16979};
// Limit for one OP_KILL_CURSORS, as on servers.
constexpr uint32_t kKilledCursorsMax = 30'000;

struct Query {
  uint32_t flags = 0;
  std::string_view collection;  // "database.collection"
  int32_t to_skip = 0;
  int32_t to_return = 0;
  bson::View document;
  bson::View fields;
};

Result<int32_t> signed_number(ByteReader& reader) {
  GM_ASSIGN(const uint32_t number, reader.number());
  return static_cast<int32_t>(number);
}

Result<Query> read_query(std::span<const uint8_t> body) {
  ByteReader reader(body);
  Query query;
  GM_ASSIGN(query.flags, reader.number());
  GM_ASSIGN(query.collection, reader.name());
  GM_ASSIGN(query.to_skip, signed_number(reader));
  GM_ASSIGN(query.to_return, signed_number(reader));
  GM_ASSIGN(query.document, reader.document());
  if (!reader.at_end()) {
    GM_ASSIGN(query.fields, reader.document());
  }
  return query;
}

// Returns the field that wraps a command or filter, or nothing. Drivers use the field `$query` to
// add modifiers beside it. The fields may be in any order: some drivers write them in the order of
// a hash table. `query` without a dollar is a wrapper only as the first field. Otherwise it is an
// ordinary field of the filter.
std::optional<bson::Element> wrapped(bson::View document) {
  for (const bson::Element field : document) {
    const bool wraps = field.key == "$query" ||
                       (field.key == "query" && field.key.data() == (*document.begin()).key.data());
    if (wraps && field.value.type() == bson::Type::kDocument) return field;
  }
  return std::nullopt;
}

bson::View unwrapped(bson::View document) {
  const std::optional<bson::Element> query = wrapped(document);
  return query ? query->value.as_document() : document;
}

// A modifier beside `$query`, and the equivalent field of find.
struct Modifier {
  std::string_view name;
  std::string_view find_field;
};
constexpr std::array<Modifier, 11> kModifiers = {{{"$orderby", "sort"},
                                                  {"orderby", "sort"},
                                                  {"$hint", "hint"},
                                                  {"$comment", "comment"},
                                                  {"$maxTimeMS", "maxTimeMS"},
                                                  {"$min", "min"},
                                                  {"$max", "max"},
                                                  {"$returnKey", "returnKey"},
                                                  {"$showDiskLoc", "showRecordId"},
                                                  {"$readPreference", "$readPreference"},
                                                  {"$readConcern", "readConcern"}}};

// Appends the modifiers of the wrapper, which are all fields except `query_name`. Sets `explains`
// if there is the modifier $explain.
Status append_modifiers(bson::View wrapper, std::string_view query_name, bson::Builder& find,
                        bool& explains) {
  for (const auto [name, value] : wrapper) {
    if (name == query_name) continue;
    if (name == "$explain") {
      explains = value.type() != bson::Type::kBool || value.as_bool();
      continue;
    }
    if (name == "$snapshot") continue;  // every cursor reads from a snapshot
    std::string_view find_field;
    for (const Modifier& modifier : kModifiers) {
      if (modifier.name == name) find_field = modifier.find_field;
    }
    if (find_field.empty()) {
      return fail(ErrorCode::kBadValue,
                  "the query modifier " + std::string(name) + " is not supported");
    }
    find.append(find_field, value);
  }
  return {};
}

void append_numbers(const Query& query, bson::Builder& find) {
  if (query.to_skip != 0) find.append("skip", query.to_skip);
  const int64_t count = query.to_return;
  if (count < 0 || count == 1) {
    find.append("limit", count < 0 ? -count : count).append("singleBatch", true);
  } else if (count > 0) {
    find.append("batchSize", count);
  }
}

void append_flags(uint32_t flags, bson::Builder& find) {
  if ((flags & kTailableCursor) != 0) find.append("tailable", true);
  if ((flags & kNoCursorTimeout) != 0) find.append("noCursorTimeout", true);
  if ((flags & kAwaitData) != 0) find.append("awaitData", true);
}

Result<bson::Document> find_of(const Query& query, std::string_view collection) {
  if ((query.flags & kExhaust) != 0) {
    return fail(ErrorCode::kBadValue,
                "OP_QUERY's exhaust flag is not supported; OP_MSG's exhaustAllowed is");
  }
  bson::Builder find;
  find.append("find", collection).append("filter", unwrapped(query.document));
  if (!query.fields.empty()) find.append("projection", query.fields);
  append_numbers(query, find);
  append_flags(query.flags, find);
  bool explains = false;
  if (const auto inner = wrapped(query.document)) {
    GM_TRY(append_modifiers(query.document, inner->key, find, explains));
  }
  bson::Document command = std::move(find).finish();
  if (!explains) return command;
  bson::Builder explain;
  explain.append("explain", command).append("verbosity", "allPlansExecution");
  return std::move(explain).finish();
}

// Makes `incoming` a request on `database`, whose command is in `incoming.made`.
void ask(IncomingMessage& incoming, bson::Document command, std::string_view database) {
  incoming.made = std::move(command);
  Request request;
  request.body = incoming.made;
  request.database = database;
  request.is_legacy_cursor = true;
  incoming.content = std::move(request);
}

IncomingMessage command_of(const Query& query) {
  IncomingMessage incoming;
  incoming.form.kind = ReplyForm::Kind::kLegacy;
  incoming.form.legacy_flags = kAwaitCapable;
  if (query.to_return != 1 && query.to_return != -1) {
    incoming.content = error_document(
        {kBadNumberToReturn, "Bad numberToReturn (" + std::to_string(query.to_return) +
                                 ") for $cmd type ns - can only be 1 or -1"});
    return incoming;
  }
  Request request;
  request.body = unwrapped(query.document);
  request.database = query.collection.substr(0, query.collection.size() - kCommandSuffix.size());
  incoming.content = std::move(request);
  return incoming;
}

IncomingMessage cursor_form() {
  IncomingMessage incoming;
  incoming.form.kind = ReplyForm::Kind::kLegacyCursor;
  incoming.form.legacy_flags = kAwaitCapable;
  return incoming;
}

}  // namespace

Result<IncomingMessage> read_op_query(std::span<const uint8_t> message) {
  GM_ASSIGN(const Query query, read_query(message.subspan(kHeaderBytes)));
  if (query.collection.ends_with(kCommandSuffix)) return command_of(query);
  IncomingMessage incoming = cursor_form();
  const LegacyNamespace ns = split(query.collection);
  if (Result<bson::Document> find = find_of(query, ns.collection)) {
    ask(incoming, std::move(*find), ns.database);
  } else {
    incoming.content = error_document(find.error());
  }
  return incoming;
}

Result<IncomingMessage> read_op_get_more(std::span<const uint8_t> message) {
  ByteReader reader(message.subspan(kHeaderBytes));
  GM_TRY(reader.number());  // reserved
  GM_ASSIGN(const std::string_view collection, reader.name());
  GM_ASSIGN(const int64_t to_return, signed_number(reader));
  GM_ASSIGN(const int64_t id, reader.number_64());
  const LegacyNamespace ns = split(collection);
  bson::Builder command;
  command.append("getMore", id).append("collection", ns.collection);
  if (to_return != 0) command.append("batchSize", to_return < 0 ? -to_return : to_return);
  IncomingMessage incoming = cursor_form();
  ask(incoming, std::move(command).finish(), ns.database);
  return incoming;
}

Result<IncomingMessage> read_op_kill_cursors(std::span<const uint8_t> message) {
  ByteReader reader(message.subspan(kHeaderBytes));
  GM_TRY(reader.number());  // reserved
  GM_ASSIGN(const uint32_t count, reader.number());
  if (count == 0 || count >= kKilledCursorsMax) {
    return fail(ErrorCode::kBadValue, "OP_KILL_CURSORS names " + std::to_string(count) +
                                          " cursors; it may name 1 to " +
                                          std::to_string(kKilledCursorsMax - 1));
  }
  bson::Builder command;
  command.append("killCursors", "").open_array("cursors");
  for (uint32_t i = 0; i < count; ++i) {
    GM_ASSIGN(const int64_t id, reader.number_64());
    command.push(bson::Value(id).view());
  }
  command.close();
  IncomingMessage incoming;
  incoming.form.kind = ReplyForm::Kind::kNone;
  ask(incoming, std::move(command).finish(), "admin");
  return incoming;
}

}  // namespace gridmount::wire
