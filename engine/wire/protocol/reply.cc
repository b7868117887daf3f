#include "engine/wire/protocol/reply.h"

#include <cstring>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/text.h"
#include "engine/checksum/crc32c.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/compression.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/legacy_query.h"
#include "engine/wire/protocol/op_msg.h"

namespace gridmount::wire {
namespace {

// An upper limit for the bytes of a reply message without its document, compressed or not.
constexpr size_t kEnvelopeBytesMax = 64;

int64_t number_in(bson::View document, std::string_view name) {
  const std::optional<bson::ValueView> value = document.find(name);
  return value ? value->integral().value_or(0) : 0;
}

bson::Document legacy_error(bson::View reply, int32_t code) {
  bson::Builder error;
  if (const auto message = reply.find("errmsg")) error.append("$err", *message);
  error.append("code", code).append("ok", 0.0);
  return std::move(error).finish();
}

}  // namespace

bson::Document error_document(const Error& error, std::string_view code_name) {
  bson::Builder reply;
  reply.append("ok", 0.0).append("errmsg", bson::valid_text(error.message()));
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
  if (form.kind == ReplyForm::Kind::kLegacyCursor) {
    make_legacy_batch(form, document, request_id);
  } else {
    body_ = std::move(document).release();
    if (form.kind == ReplyForm::Kind::kLegacy) {
      make_legacy({.flags = form.legacy_flags, .documents = 1}, form, request_id);
    } else {
      make_message(form, request_id);
    }
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

void Reply::make_legacy(const LegacyHead& legacy, const ReplyForm& form, int32_t request_id) {
  head_bytes_ = kHeadBytesMax;
  write_header({static_cast<uint32_t>(size()), request_id, form.response_to, Opcode::kReply},
               head_.data());
  uint8_t* at = head_.data() + kHeaderBytes;
  store_32(legacy.flags, at);
  std::memcpy(at + 4, &legacy.cursor, sizeof legacy.cursor);
  store_32(static_cast<uint32_t>(legacy.starting_from), at + 12);
  store_32(static_cast<uint32_t>(legacy.documents), at + 16);
}

void Reply::make_legacy_batch(const ReplyForm& form, bson::View reply, int32_t request_id) {
  LegacyHead legacy{.flags = form.legacy_flags};
  if (const auto code = reply.find("code"); code && number_in(reply, "ok") == 0) {
    const auto number = static_cast<int32_t>(code->integral().value_or(0));
    if (static_cast<ErrorCode>(number) == ErrorCode::kCursorNotFound) {
      legacy.flags |= kCursorNotFound;
    } else {
      legacy.flags |= kQueryFailure;
      legacy.documents = 1;
      body_ = legacy_error(reply, number).release();
    }
  } else if (const auto cursor = reply.find("cursor")) {
    const bson::View fields = cursor->as_document();
    legacy.cursor = number_in(fields, "id");
    legacy.starting_from = static_cast<int32_t>(number_in(fields, "startingFrom"));
    for (const char* const name : {"firstBatch", "nextBatch"}) {
      const auto batch = fields.find(name);
      if (!batch) continue;
      for (const bson::Element element : batch->as_document()) {
        const auto bytes = element.value.as_document().bytes();
        body_.insert(body_.end(), bytes.begin(), bytes.end());
        ++legacy.documents;
      }
    }
  } else {
    // The reply of explain has no cursor.
    legacy.documents = 1;
    body_.assign(reply.bytes().begin(), reply.bytes().end());
  }
  make_legacy(legacy, form, request_id);
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
