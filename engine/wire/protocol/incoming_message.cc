#include "engine/wire/protocol/incoming_message.h"

#include <string>

#include "engine/bson/compare.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/legacy_query.h"
#include "engine/wire/protocol/legacy_write.h"
#include "engine/wire/protocol/op_msg.h"
#include "engine/wire/protocol/reply.h"

namespace gridmount::wire {
namespace {

Result<IncomingMessage> read_message(std::span<const uint8_t> message) {
  GM_ASSIGN(OpMsg op_msg, read_op_msg(message));
  IncomingMessage incoming;
  if ((op_msg.flags & kMoreToCome) != 0) incoming.form.kind = ReplyForm::Kind::kNone;
  incoming.form.has_checksum = (op_msg.flags & kChecksumPresent) != 0;
  incoming.form.exhaust_allowed = (op_msg.flags & kExhaustAllowed) != 0;
  if (auto* const request = std::get_if<Request>(&op_msg.content)) {
    incoming.content = std::move(*request);
  } else {
    incoming.content = error_document(std::get<Error>(op_msg.content));
  }
  return incoming;
}

Result<IncomingMessage> read_plain(const Header& header, std::span<const uint8_t> message) {
  switch (header.opcode) {
    case Opcode::kMessage:
      return read_message(message);
    case Opcode::kQuery:
      return read_op_query(message);
    case Opcode::kGetMore:
      return read_op_get_more(message);
    case Opcode::kKillCursors:
      return read_op_kill_cursors(message);
    case Opcode::kInsert:
      return read_op_insert(message);
    case Opcode::kUpdate:
      return read_op_update(message);
    case Opcode::kDelete:
      return read_op_delete(message);
    default:
      // The reply that the client expects is unknown, so the connection ends.
      return fail(ErrorCode::kUnsupportedFormat,
                  "the client sent " + opcode_name(header.opcode) + ", which is not supported");
  }
}

std::optional<bson::ValueView> field_of(bson::View document, std::string_view outer,
                                        std::string_view inner) {
  const std::optional<bson::ValueView> found = document.find(outer);
  if (!found || found->type() != bson::Type::kDocument) return std::nullopt;
  return found->as_document().find(inner);
}

bool is_hello(std::string_view command) {
  return command == "hello" || command == "isMaster" || command == "ismaster";
}

}  // namespace

bool has_more_to_come(const IncomingMessage& incoming, bson::View reply) {
  if (!incoming.form.exhaust_allowed || incoming.form.kind != ReplyForm::Kind::kMessage)
    return false;
  const auto* const request = std::get_if<Request>(&incoming.content);
  if (request == nullptr) return false;
  if (request->name() == "getMore") {
    const std::optional<bson::ValueView> id = field_of(reply, "cursor", "id");
    return id && id->integral().value_or(0) != 0;
  }
  if (!is_hello(request->name())) return false;
  const std::optional<bson::ValueView> known =
      field_of(request->body, "topologyVersion", "processId");
  const std::optional<bson::ValueView> told = field_of(reply, "topologyVersion", "processId");
  return known && told && std::is_eq(bson::compare(*known, *told));
}

Result<IncomingMessage> read_incoming(std::span<const uint8_t> message,
                                      MessageBytes& decompressed) {
  GM_ASSIGN(Header header, read_header(message.first<kHeaderBytes>()));
  std::optional<Compressor> compressor;
  if (header.opcode == Opcode::kCompressed) {
    GM_ASSIGN(const CompressedHeader compressed, read_compressed_header(message));
    GM_ASSIGN(decompressed, decompress(message));
    compressor = compressed.compressor;
    header.opcode = compressed.opcode;
    message = decompressed.bytes();
  }
  GM_ASSIGN(IncomingMessage incoming, read_plain(header, message));
  incoming.form.response_to = header.request_id;
  const auto* const request = std::get_if<Request>(&incoming.content);
  if (request == nullptr || may_be_compressed(request->name())) {
    incoming.form.compressor = compressor;
  }
  return incoming;
}

}  // namespace gridmount::wire
