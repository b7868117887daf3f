// Reads numbers, names and documents from untrusted bytes, one after another. Never reads beyond
// the end of the bytes: a function that needs more bytes fails with InvalidBSON. The returned spans
// and views refer to the bytes, which must outlive them.
//
// Not thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian, so are we");

inline uint32_t load_32(const uint8_t* from) {
  uint32_t number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

inline void store_32(uint32_t number, uint8_t* to) {
  std::memcpy(to, &number, sizeof number);
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  std::span<const uint8_t> rest() const { return bytes_; }

  Result<std::span<const uint8_t>> take(size_t count) {
    if (count > bytes_.size()) {
      return fail(ErrorCode::kInvalidBson, "the message is truncated: " + std::to_string(count) +
                                               " bytes expected, " + std::to_string(bytes_.size()) +
                                               " present");
    }
    const std::span<const uint8_t> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  Result<uint8_t> byte() {
    GM_ASSIGN(const auto taken, take(1));
    return taken[0];
  }

  Result<uint32_t> number() {
    GM_ASSIGN(const auto taken, take(sizeof(uint32_t)));
    return load_32(taken.data());
  }

  Result<int64_t> number_64() {
    GM_ASSIGN(const auto taken, take(sizeof(int64_t)));
    int64_t number;
    std::memcpy(&number, taken.data(), sizeof number);
    return number;
  }

  // Returns the text before the next NUL byte, and skips the NUL.
  Result<std::string_view> name() {
    const void* const nul = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
    if (nul == nullptr) return fail(ErrorCode::kInvalidBson, "a name in the message does not end");
    const auto size = static_cast<size_t>(static_cast<const uint8_t*>(nul) - bytes_.data());
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size + 1);
    return text;
  }

  // Reads one document and validates all of it, including its size and depth: also fails as
  // bson::validate() does.
  Result<bson::View> document() {
    if (bytes_.size() < sizeof(uint32_t)) return fail(cut_off());
    const uint32_t length = load_32(bytes_.data());
    if (length > bytes_.size()) return fail(cut_off());
    GM_ASSIGN(const bson::View document, bson::validate(bytes_.first(length)));
    bytes_ = bytes_.subspan(length);
    return document;
  }

 private:
  static Error cut_off() { return {ErrorCode::kInvalidBson, "a document is truncated"}; }

  std::span<const uint8_t> bytes_;
};

}  // namespace gridmount::wire
