// Builds the message that contains a reply document.
//
// error_document() is thread-safe. A Reply is not.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/protocol/incoming_message.h"

namespace gridmount::wire {

// Returns {ok: 0, errmsg, code, codeName, ...fields of Error::details()}. If `code_name` is not
// empty, it replaces the name that error_code_name() returns.
bson::Document error_document(const Error& error, std::string_view code_name = {});

// A message in several pieces, which must be sent in order. The pieces avoid a copy of the
// document, which may have 16 MiB.
class Reply {
 public:
  Reply() = default;  // empty
  // `request_id` is the reply's own requestID; form.response_to names the request. If the document
  // is too large for a message of kMessageBytesMax bytes, the reply is the error BSONObjectTooLarge
  // instead.
  Reply(const ReplyForm& form, bson::Document document, int32_t request_id);

  size_t size() const { return head_bytes_ + body_.size() + tail_bytes_ + whole_.size(); }
  // Returns the pieces, which are valid until the reply is moved or changed.
  std::array<std::span<const uint8_t>, 3> pieces() const;

 private:
  void make_message(const ReplyForm& form, int32_t request_id);
  // The fields of OP_REPLY before its documents.
  struct LegacyHead {
    uint32_t flags = 0;
    int64_t cursor = 0;
    int32_t starting_from = 0;
    int32_t documents = 0;
  };
  void make_legacy(const LegacyHead& legacy, const ReplyForm& form, int32_t request_id);
  void make_legacy_batch(const ReplyForm& form, bson::View reply, int32_t request_id);
  void compress_with(Compressor compressor);

  static constexpr size_t kHeadBytesMax = 36;  // of OP_REPLY, with the message header
  std::array<uint8_t, kHeadBytesMax> head_{};
  std::vector<uint8_t> body_;
  std::array<uint8_t, 4> tail_{};  // the checksum
  size_t head_bytes_ = 0;
  size_t tail_bytes_ = 0;
  MessageBytes whole_;  // the compressed message; the other parts are then empty
};

}  // namespace gridmount::wire
