#include "engine/query/output.h"

#include <cassert>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "engine/query/interruption.h"

namespace gridmount::query {

tl::unexpected<Error> document_too_large(uint64_t bytes, uint32_t bytes_max) {
  char hex[20];
  snprintf(hex, sizeof hex, "%llX", static_cast<unsigned long long>(bytes));
  return fail(ErrorCode::kBsonObjectTooLarge,
              "BSONObj size: " + std::to_string(bytes) + " (0x" + hex +
                  ") is invalid. Size must be between 0 and " + std::to_string(bytes_max) + "(" +
                  std::to_string(bytes_max >> 20) + "MB)");
}

Status check_depth(bson::View document) {
  if (!bson::is_nested(document, bson::kMaxDepth)) return {};
  return fail(ErrorCode::kOverflow,
              "cannot convert document to BSON because it exceeds the limit of " +
                  std::to_string(bson::kMaxDepth) + " levels of nesting");
}

void Output::begin() {
  bytes_.assign(4, 0);
  open_.clear();
  open_.push_back({0});
  dropped_ = 0;
  error_.reset();
}

void Output::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void Output::append_bytes(const void* data, size_t size) {
  const size_t at = bytes_.size();
  bytes_.resize(at + size);
  if (size > 0) std::memcpy(bytes_.data() + at, data, size);
}

// Type and key, if there is room for them and the value.
bool Output::begin_element(bson::Type type, std::string_view key, size_t value_bytes) {
  const size_t needed = key.size() + 2 + value_bytes;
  if (dropped_ > 0 || bytes_.size() + needed > kIntermediateBytesMax) {
    dropped_ += needed;
    return false;
  }
  const size_t at = bytes_.size();
  bytes_.resize(at + key.size() + 2);
  bytes_[at] = static_cast<uint8_t>(type);
  if (!key.empty()) std::memcpy(bytes_.data() + at + 1, key.data(), key.size());
  bytes_.back() = 0;
  return true;
}

void Output::append(std::string_view key, bson::ValueView value) {
  if (begin_element(value.type(), key, value.size())) append_bytes(value.data(), value.size());
}

void Output::append(std::string_view key, int32_t value) {
  if (begin_element(bson::Type::kInt32, key, sizeof value)) append_bytes(&value, sizeof value);
}

void Output::append(std::string_view key, int64_t value) {
  if (begin_element(bson::Type::kInt64, key, sizeof value)) append_bytes(&value, sizeof value);
}

void Output::append_null(std::string_view key) {
  begin_element(bson::Type::kNull, key, 0);
}

void Output::open(bson::Type type, std::string_view key) {
  if (begin_element(type, key, 4)) bytes_.resize(bytes_.size() + 4);
  open_.push_back({bytes_.size() - 4});
}

std::string_view Output::next_key() {
  const auto [end, error] = std::to_chars(key_, key_ + sizeof key_, open_.back().next++);
  assert(error == std::errc());
  return {key_, static_cast<size_t>(end - key_)};
}

void Output::push(bson::ValueView value) {
  append(next_key(), value);
}

void Output::push_open(bson::Type type) {
  const std::string_view key = next_key();
  open(type, key);
}

void Output::close() {
  assert(open_.size() > 1 && "nothing is open");
  bytes_.push_back(0);
  const size_t begin = open_.back().begin;
  open_.pop_back();
  if (dropped_ > 0) return;
  const auto length = static_cast<uint32_t>(bytes_.size() - begin);
  std::memcpy(bytes_.data() + begin, &length, sizeof length);
}

Result<bson::View> Output::finish_flat() {
  assert(open_.size() == 1 && "something is still open");
  if (error_) return gridmount::fail(*error_);
  GM_TRY(check_interruption_of(bytes_.size()));
  if (dropped_ > 0) return document_too_large(bytes_.size() + dropped_, kIntermediateBytesMax);
  bytes_.push_back(0);
  const auto length = static_cast<uint32_t>(bytes_.size());
  std::memcpy(bytes_.data(), &length, sizeof length);
  return bson::View(bytes_.data(), length);
}

Result<bson::View> Output::finish() {
  GM_ASSIGN(const bson::View document, finish_flat());
  GM_TRY(check_depth(document));
  return document;
}

}  // namespace gridmount::query
