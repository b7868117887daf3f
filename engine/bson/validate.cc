// Validates bytes of unknown origin. Source: bsonspec.org, version 1.1.

#include <cstring>
#include <string>

#include "engine/bson/document.h"

namespace gridmount::bson {
namespace {

constexpr uint32_t kSmallestDocument = 5;

class Validator {
 public:
  explicit Validator(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // Checks a document or array that begins at `at` and must end by `end`. Returns the position
  // after it.
  Result<size_t> document(size_t at, size_t end, uint32_t depth) {
    // The code and the wording are those of servers.
    if (depth > kMaxDepth) {
      return fail(ErrorCode::kOverflow, "invalid BSON at byte " + std::to_string(at) +
                                            ": BSONObj exceeded maximum nested object depth: " +
                                            std::to_string(kMaxDepth));
    }
    GM_ASSIGN(const uint32_t length, length_at(at, end));
    if (length < kSmallestDocument || length > end - at) {
      return refuse(at, "a document's length is given as " + std::to_string(length) + " bytes, " +
                            std::to_string(end - at) + " are there");
    }
    const size_t document_end = at + length;
    if (bytes_[document_end - 1] != 0) return refuse(at, "a document does not end with NUL");
    const size_t elements_end = document_end - 1;
    for (at += 4; at < elements_end;) {
      const auto type = static_cast<Type>(bytes_[at]);
      const size_t element = at;
      GM_ASSIGN(at, behind_nul(at + 1, elements_end));
      if (bytes_[element] == 0) return refuse(element, "a NUL is in place of an element");
      GM_ASSIGN(at, value(type, element, at, elements_end, depth));
    }
    return document_end;
  }

 private:
  static tl::unexpected<Error> refuse(size_t at, const std::string& what) {
    return fail(ErrorCode::kInvalidBson,
                "invalid BSON at byte " + std::to_string(at) + ": " + what);
  }

  Result<uint32_t> length_at(size_t at, size_t end) const {
    if (end - at < 4) return refuse(at, "a length is cut off");
    uint32_t length;
    std::memcpy(&length, bytes_.data() + at, sizeof length);
    return length;
  }

  Result<size_t> skip(size_t at, size_t end, uint64_t count) const {
    if (end - at < count) return refuse(at, "a value is cut off");
    return at + static_cast<size_t>(count);
  }

  Result<size_t> behind_nul(size_t at, size_t end) const {
    const void* const nul = at < end ? std::memchr(bytes_.data() + at, 0, end - at) : nullptr;
    if (nul == nullptr) return refuse(at, "a name or pattern is not terminated");
    return static_cast<size_t>(static_cast<const uint8_t*>(nul) - bytes_.data()) + 1;
  }

  Result<size_t> text(size_t at, size_t end) const {
    GM_ASSIGN(const uint32_t length, length_at(at, end));
    if (length == 0 || length > end - at - 4) {
      return refuse(at, "a string's length is given as " + std::to_string(length) + " bytes, " +
                            std::to_string(end - at - 4) + " are there");
    }
    if (bytes_[at + 4 + length - 1] != 0) return refuse(at, "a string does not end with NUL");
    return at + 4 + length;
  }

  Result<size_t> binary(size_t at, size_t end) const {
    GM_ASSIGN(const uint32_t length, length_at(at, end));
    GM_ASSIGN(const size_t value_end, skip(at, end, uint64_t{length} + 5));
    if (bytes_[at + 4] == kOldBinarySubtype) {
      GM_ASSIGN(const uint32_t inner, length_at(at + 5, value_end));
      if (uint64_t{inner} + 4 != length) {
        return refuse(at, "the two lengths of binary data of the old subtype 2 differ");
      }
    }
    return value_end;
  }

  Result<size_t> code_with_scope(size_t at, size_t end, uint32_t depth) {
    GM_ASSIGN(const uint32_t length, length_at(at, end));
    if (length > end - at || length < 4 + 5 + kSmallestDocument) {
      return refuse(at, "code with scope is cut off");
    }
    const size_t value_end = at + length;
    GM_ASSIGN(const size_t scope, text(at + 4, value_end));
    GM_ASSIGN(const size_t scope_end, document(scope, value_end, depth + 1));
    if (scope_end != value_end) return refuse(at, "code with scope has a wrong length");
    return value_end;
  }

  Result<size_t> value(Type type, size_t element, size_t at, size_t end, uint32_t depth) {
    switch (type) {
      case Type::kMinKey:
      case Type::kMaxKey:
      case Type::kNull:
      case Type::kUndefined:
      case Type::kInt32:
      case Type::kDouble:
      case Type::kDate:
      case Type::kTimestamp:
      case Type::kInt64:
      case Type::kObjectId:
      case Type::kDecimal128:
        return skip(at, end, value_bytes(type, nullptr));
      case Type::kBool:
        if (at < end && bytes_[at] > 1) return refuse(at, "a boolean is neither 0 nor 1");
        return skip(at, end, 1);
      case Type::kString:
      case Type::kSymbol:
      case Type::kCode:
        return text(at, end);
      case Type::kDocument:
      case Type::kArray:
        return document(at, end, depth + 1);
      case Type::kBinary:
        return binary(at, end);
      case Type::kRegex: {
        GM_ASSIGN(const size_t options, behind_nul(at, end));
        return behind_nul(options, end);
      }
      case Type::kDbPointer: {
        GM_ASSIGN(const size_t id, text(at, end));
        return skip(id, end, 12);
      }
      case Type::kCodeWithScope:
        return code_with_scope(at, end, depth);
    }
    return refuse(element, "unknown type " + std::to_string(bytes_[element]));
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace

Result<View> validate(std::span<const uint8_t> bytes, uint32_t max_bytes) {
  if (bytes.size() > max_bytes) {
    return fail(ErrorCode::kBsonObjectTooLarge, "the document has " + std::to_string(bytes.size()) +
                                                    " bytes; at most " + std::to_string(max_bytes) +
                                                    " are allowed");
  }
  GM_ASSIGN(const size_t end, Validator(bytes).document(0, bytes.size(), 0));
  if (end != bytes.size()) {
    return fail(ErrorCode::kInvalidBson, "invalid BSON at byte " + std::to_string(end) + ": " +
                                             std::to_string(bytes.size() - end) +
                                             " bytes follow the document");
  }
  return View(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

}  // namespace gridmount::bson
