#include "engine/wire/protocol/incoming.h"

#include <string>

#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/op_msg.h"
#include "engine/wire/protocol/op_query.h"
#include "engine/wire/protocol/reply.h"

namespace gridmount::wire {
namespace {

Result<Incoming> read_message(std::span<const uint8_t> message) {
  GM_ASSIGN(OpMsg op_msg, read_op_msg(message));
  Incoming incoming;
  if ((op_msg.flags & kMoreToCome) != 0) incoming.form.kind = ReplyForm::Kind::kNone;
  incoming.form.has_checksum = (op_msg.flags & kChecksumPresent) != 0;
  incoming.form.may_go_on = (op_msg.flags & kExhaustAllowed) != 0;
  if (auto* const request = std::get_if<Request>(&op_msg.content)) {
    incoming.content = std::move(*request);
  } else {
    incoming.content = error_document(std::get<Error>(op_msg.content));
  }
  return incoming;
}

Result<Incoming> read_query(std::span<const uint8_t> message) {
  GM_ASSIGN(OpQuery op_query, read_op_query(message));
  Incoming incoming;
  incoming.form.kind = ReplyForm::Kind::kLegacy;
  incoming.form.legacy_flags = op_query.reply_flags;
  incoming.content = std::move(op_query.content);
  return incoming;
}

Result<Incoming> read_plain(const Header& header, std::span<const uint8_t> message) {
  switch (header.opcode) {
    case Opcode::kMessage:
      return read_message(message);
    case Opcode::kQuery:
      return read_query(message);
    case Opcode::kGetMore: {
      Incoming incoming;
      incoming.form.kind = ReplyForm::Kind::kLegacy;
      incoming.form.legacy_flags = kQueryFailure;
      incoming.content = no_longer_supported("OP_GET_MORE");
      return incoming;
    }
    default:
      // Nobody waits for a reply to OP_INSERT and its like, and what an unknown opcode expects
      // nobody knows.
      return fail(ErrorCode::kUnsupportedFormat,
                  opcode_name(header.opcode) + " is not supported; the client sent it");
  }
}

}  // namespace

bool goes_on(const Incoming& incoming, bson::View reply) {
  if (!incoming.form.may_go_on || incoming.form.kind != ReplyForm::Kind::kMessage) return false;
  const auto* const request = std::get_if<Request>(&incoming.content);
  if (request == nullptr || request->name() != "getMore") return false;
  const std::optional<bson::ValueView> cursor = reply.find("cursor");
  if (!cursor || cursor->type() != bson::Type::kDocument) return false;
  const std::optional<bson::ValueView> id = cursor->as_document().find("id");
  return id && id->integral().value_or(0) != 0;
}

Result<Incoming> read_incoming(std::span<const uint8_t> message, MessageBytes& decompressed) {
  GM_ASSIGN(Header header, read_header(message.first<kHeaderBytes>()));
  std::optional<Compressor> compressor;
  if (header.opcode == Opcode::kCompressed) {
    GM_ASSIGN(const CompressedHeader compressed, read_compressed_header(message));
    GM_ASSIGN(decompressed, decompress(message));
    compressor = compressed.compressor;
    header.opcode = compressed.opcode;
    message = decompressed.bytes();
  }
  GM_ASSIGN(Incoming incoming, read_plain(header, message));
  incoming.form.response_to = header.request_id;
  const auto* const request = std::get_if<Request>(&incoming.content);
  if (request == nullptr || may_be_compressed(request->name())) {
    incoming.form.compressor = compressor;
  }
  return incoming;
}

}  // namespace gridmount::wire
