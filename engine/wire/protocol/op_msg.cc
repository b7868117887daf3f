#include "engine/wire/protocol/op_msg.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <string>

#include "engine/checksum/crc32c.h"
#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/protocol/header.h"

namespace gridmount::wire {
namespace {

constexpr uint32_t kRequiredFlags = 0xffff;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kSequencesMax = 2;

constexpr uint8_t kBodySection = 0;
constexpr uint8_t kSequenceSection = 1;

// Error codes of MongoDB that have no names.
constexpr ErrorCode kSeveralBodies{40430};
constexpr ErrorCode kDuplicateSequence{40431};
constexpr ErrorCode kUnknownSection{40432};
constexpr ErrorCode kSequenceBesideField{40433};
constexpr ErrorCode kNoDatabase{40571};
constexpr ErrorCode kNoBody{40587};

class SectionsReader {
 public:
  // Returns the request, or an error for the client. If ends_connection() is true after an error,
  // the connection must be closed without a reply.
  Result<Request> read(std::span<const uint8_t> sections) {
    ByteReader reader(sections);
    while (!reader.at_end()) {
      GM_ASSIGN(const uint8_t kind, reader.byte());
      if (kind == kBodySection) {
        GM_TRY(read_body(reader));
      } else if (kind == kSequenceSection) {
        GM_TRY(read_sequence(reader));
      } else {
        return fail(kUnknownSection, "Unknown section kind " + std::to_string(kind));
      }
    }
    if (!has_body_) return fail(kNoBody, "OP_MSG messages must have a body");
    GM_TRY(check_no_field_twice());
    GM_TRY(read_database());
    return std::move(request_);
  }

  bool ends_connection() const { return ends_connection_; }

 private:
  Status read_body(ByteReader& reader) {
    if (has_body_) return fail(kSeveralBodies, "Multiple body sections in message");
    has_body_ = true;
    GM_ASSIGN(request_.body, reader.document());
    return {};
  }

  Status read_sequence(ByteReader& reader) {
    if (request_.sequences.size() == kSequencesMax) {
      ends_connection_ = true;
      return fail(ErrorCode::kBadValue, "Too many document sequences in OP_MSG");
    }
    GM_ASSIGN(const uint32_t size, reader.number());
    if (size < sizeof size) {
      return fail(ErrorCode::kInvalidBson, "a document sequence is shorter than its own length");
    }
    GM_ASSIGN(const auto bytes, reader.take(size - sizeof size));
    ByteReader sequence_reader(bytes);
    Sequence sequence;
    GM_ASSIGN(sequence.name, sequence_reader.name());
    for (const Sequence& other : request_.sequences) {
      if (other.name == sequence.name) {
        return fail(kDuplicateSequence,
                    "Duplicate document sequence: " + std::string(sequence.name));
      }
    }
    // The error message needs the full count. But the number of views is limited, because the views
    // of ten million empty documents would take more memory than the message.
    size_t count = 0;
    while (!sequence_reader.at_end()) {
      GM_ASSIGN(const bson::View document, sequence_reader.document());
      if (++count <= kMessageWritesMax) sequence.documents.push_back(document);
    }
    if (count > kMessageWritesMax) {
      return fail(ErrorCode::kInvalidLength, "Write batch sizes must be between 1 and " +
                                                 std::to_string(kMessageWritesMax) + ". Got " +
                                                 std::to_string(count) + " operations.");
    }
    request_.sequences.push_back(std::move(sequence));
    return {};
  }

  Status check_no_field_twice() const {
    for (const Sequence& sequence : request_.sequences) {
      if (request_.body.find(sequence.name)) {
        return fail(kSequenceBesideField, "Duplicate field between body and document sequence " +
                                              std::string(sequence.name));
      }
    }
    return {};
  }

  Status read_database() {
    const std::optional<bson::ValueView> database = request_.body.find("$db");
    if (!database) return fail(kNoDatabase, "OP_MSG requests require a $db argument");
    if (database->type() != bson::Type::kString) {
      return fail(ErrorCode::kTypeMismatch, "The field $db of a request must be a string");
    }
    request_.database = database->as_string();
    return {};
  }

  Request request_;
  bool has_body_ = false;
  bool ends_connection_ = false;
};

Status check_flags(uint32_t flags) {
  if ((flags & kRequiredFlags & ~(kChecksumPresent | kMoreToCome)) == 0) return {};
  return fail(ErrorCode::kBadValue,
              "Message contains illegal flags value: Ob" + std::bitset<32>(flags).to_string());
}

}  // namespace

Result<OpMsg> read_op_msg(std::span<const uint8_t> message) {
  std::span<const uint8_t> rest = message.subspan(kHeaderBytes);
  if (rest.size() < sizeof(uint32_t)) {
    return fail(ErrorCode::kInvalidLength, "OP_MSG ends before its flags");
  }
  OpMsg op_msg;
  op_msg.flags = load_32(rest.data());
  rest = rest.subspan(sizeof op_msg.flags);
  GM_TRY(check_flags(op_msg.flags));
  if ((op_msg.flags & kChecksumPresent) != 0) {
    if (rest.size() < kChecksumBytes) {
      return fail(ErrorCode::kInvalidLength, "OP_MSG ends before its checksum");
    }
    const size_t covered = message.size() - kChecksumBytes;
    if (crc32c(message.first(covered)) != load_32(message.data() + covered)) {
      return fail(ErrorCode::kBadValue, "OP_MSG checksum does not match contents");
    }
    rest = rest.first(rest.size() - kChecksumBytes);
  }
  SectionsReader reader;
  Result<Request> request = reader.read(rest);
  if (request) {
    op_msg.content = std::move(*request);
  } else if (reader.ends_connection()) {
    return fail(std::move(request).error());
  } else {
    op_msg.content = std::move(request).error();
  }
  return op_msg;
}

}  // namespace gridmount::wire
