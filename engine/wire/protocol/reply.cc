#include "engine/wire/protocol/reply.h"

#include <cstring>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/checksum/crc32c.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/compression.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/op_msg.h"

namespace gridmount::wire {
namespace {

// What surrounds a document at most, compressed or not.
constexpr size_t kEnvelopeBytesMax = 64;

}  // namespace

bson::Document error_document(const Error& error, std::string_view code_name) {
  bson::Builder reply;
  reply.append("ok", 0.0).append("errmsg", error.message());
  reply.append("code", static_cast<int32_t>(error.code()));
  if (code_name.empty()) {
    reply.append("codeName", error_code_name(error.code()));
  } else {
    reply.append("codeName", code_name);
  }
  const std::vector<uint8_t>& details = error.details();
  if (!details.empty()) {
    reply.append_all(bson::View(details.data(), static_cast<uint32_t>(details.size())));
  }
  return std::move(reply).finish();
}

Reply::Reply(const ReplyForm& form, bson::Document document, int32_t request_id) {
  if (document.view().size() > kMessageBytesMax - kEnvelopeBytesMax) {
    document = error_document(
        {ErrorCode::kBsonObjectTooLarge, "the reply has " + std::to_string(document.view().size()) +
                                             " bytes, more than a message may"});
  }
  body_ = std::move(document).release();
  if (form.kind == ReplyForm::Kind::kLegacy) {
    make_legacy(form, request_id);
  } else {
    make_message(form, request_id);
  }
  if (form.compressor) compress_with(*form.compressor);
}

std::array<std::span<const uint8_t>, 3> Reply::pieces() const {
  if (whole_.size() > 0) return {whole_.bytes()};
  return {std::span(head_).first(head_bytes_), std::span(body_),
          std::span(tail_).first(tail_bytes_)};
}

void Reply::make_message(const ReplyForm& form, int32_t request_id) {
  head_bytes_ = kHeaderBytes + 4 + 1;
  tail_bytes_ = form.has_checksum ? sizeof(uint32_t) : 0;
  write_header({static_cast<uint32_t>(size()), request_id, form.response_to, Opcode::kMessage},
               head_.data());
  const uint32_t flags =
      (form.has_checksum ? kChecksumPresent : 0) | (form.more_to_come ? kMoreToCome : 0);
  store_32(flags, head_.data() + kHeaderBytes);
  head_[kHeaderBytes + 4] = 0;  // the section is a body
  if (form.has_checksum) {
    store_32(crc32c(body_, crc32c(std::span(head_).first(head_bytes_))), tail_.data());
  }
}

void Reply::make_legacy(const ReplyForm& form, int32_t request_id) {
  head_bytes_ = kHeadBytesMax;
  write_header({static_cast<uint32_t>(size()), request_id, form.response_to, Opcode::kReply},
               head_.data());
  store_32(form.legacy_flags, head_.data() + kHeaderBytes);
  // Between the flags and the number of documents: no cursor, nothing skipped.
  store_32(1, head_.data() + kHeadBytesMax - sizeof(uint32_t));
}

void Reply::compress_with(Compressor compressor) {
  MessageBytes plain;
  if (!plain.reserve(size())) return;
  for (const auto piece : pieces()) plain.append(piece.data(), piece.size());
  std::optional<MessageBytes> compressed = compress(plain.bytes(), compressor);
  if (!compressed) return;
  whole_ = std::move(*compressed);
  std::vector<uint8_t>().swap(body_);
  head_bytes_ = 0;
  tail_bytes_ = 0;
}

}  // namespace gridmount::wire
