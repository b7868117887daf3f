#include "engine/wire/protocol/legacy_write.h"

#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/legacy_namespace.h"

namespace gridmount::wire {
namespace {

constexpr uint32_t kContinueOnError = 1u << 0;  // OP_INSERT
constexpr uint32_t kUpsert = 1u << 0;           // OP_UPDATE
constexpr uint32_t kMulti = 1u << 1;            // OP_UPDATE
constexpr uint32_t kSingleRemove = 1u << 0;     // OP_DELETE

IncomingMessage unanswered(bson::Document command, std::string_view database) {
  IncomingMessage incoming;
  incoming.form.kind = ReplyForm::Kind::kNone;
  incoming.made = std::move(command);
  Request request;
  request.body = incoming.made;
  request.database = database;
  incoming.content = std::move(request);
  return incoming;
}

}  // namespace

Result<IncomingMessage> read_op_insert(std::span<const uint8_t> message) {
  ByteReader reader(message.subspan(kHeaderBytes));
  GM_ASSIGN(const uint32_t flags, reader.number());
  GM_ASSIGN(const std::string_view collection, reader.name());
  const LegacyNamespace ns = split(collection);
  bson::Builder command;
  command.append("insert", ns.collection).append("ordered", (flags & kContinueOnError) == 0);
  IncomingMessage incoming = unanswered(std::move(command).finish(), ns.database);
  Sequence documents{"documents", {}};
  while (!reader.at_end()) {
    GM_ASSIGN(const bson::View document, reader.document());
    if (documents.documents.size() == kMessageWritesMax) {
      return fail(ErrorCode::kInvalidLength,
                  "OP_INSERT holds more than " + std::to_string(kMessageWritesMax) + " documents");
    }
    documents.documents.push_back(document);
  }
  std::get<Request>(incoming.content).sequences.push_back(std::move(documents));
  return incoming;
}

Result<IncomingMessage> read_op_update(std::span<const uint8_t> message) {
  ByteReader reader(message.subspan(kHeaderBytes));
  GM_TRY(reader.number());  // reserved
  GM_ASSIGN(const std::string_view collection, reader.name());
  GM_ASSIGN(const uint32_t flags, reader.number());
  GM_ASSIGN(const bson::View filter, reader.document());
  GM_ASSIGN(const bson::View update, reader.document());
  const LegacyNamespace ns = split(collection);
  bson::Builder command;
  command.append("update", ns.collection).open_array("updates").push_open_document();
  command.append("q", filter).append("u", update);
  command.append("upsert", (flags & kUpsert) != 0).append("multi", (flags & kMulti) != 0);
  command.close().close();
  return unanswered(std::move(command).finish(), ns.database);
}

Result<IncomingMessage> read_op_delete(std::span<const uint8_t> message) {
  ByteReader reader(message.subspan(kHeaderBytes));
  GM_TRY(reader.number());  // reserved
  GM_ASSIGN(const std::string_view collection, reader.name());
  GM_ASSIGN(const uint32_t flags, reader.number());
  GM_ASSIGN(const bson::View filter, reader.document());
  const LegacyNamespace ns = split(collection);
  bson::Builder command;
  command.append("delete", ns.collection).open_array("deletes").push_open_document();
  command.append("q", filter);
  command.append("limit", int32_t{(flags & kSingleRemove) != 0 ? 1 : 0});
  command.close().close();
  return unanswered(std::move(command).finish(), ns.database);
}

}  // namespace gridmount::wire
