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

void DocumentOutput::begin() {
  bytes_.clear();
  open_.clear();
  open_.push_back({bson::begin_document(bytes_)});
  dropped_ = 0;
  error_.reset();
}

void DocumentOutput::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

// Appends the type and the key if there is room for them and for the value.
bool DocumentOutput::begin_element(bson::Type type, std::string_view key, size_t value_bytes) {
  const size_t needed = bson::element_head_bytes(key) + value_bytes;
  if (dropped_ > 0 || bytes_.size() + needed > kIntermediateBytesMax) {
    dropped_ += needed;
    return false;
  }
  bson::append_element_head(bytes_, type, key);
  return true;
}

void DocumentOutput::append(std::string_view key, bson::ValueView value) {
  if (!begin_element(value.type(), key, value.size())) return;
  bson::append_bytes(bytes_, value.data(), value.size());
}

void DocumentOutput::append(std::string_view key, int32_t value) {
  if (!begin_element(bson::Type::kInt32, key, sizeof value)) return;
  bson::append_bytes(bytes_, &value, sizeof value);
}

void DocumentOutput::append(std::string_view key, int64_t value) {
  if (!begin_element(bson::Type::kInt64, key, sizeof value)) return;
  bson::append_bytes(bytes_, &value, sizeof value);
}

void DocumentOutput::append_null(std::string_view key) {
  begin_element(bson::Type::kNull, key, 0);
}

void DocumentOutput::open(bson::Type type, std::string_view key) {
  const bool has_room = begin_element(type, key, bson::kLengthBytes);
  open_.push_back({has_room ? bson::begin_document(bytes_) : bytes_.size()});
}

void DocumentOutput::push(bson::ValueView value) {
  append(array_key_.of(open_.back().next++), value);
}

void DocumentOutput::push_open(bson::Type type) {
  open(type, array_key_.of(open_.back().next++));
}

void DocumentOutput::close() {
  assert(open_.size() > 1 && "nothing is open");
  const size_t begin = open_.back().begin;
  open_.pop_back();
  if (dropped_ == 0) bson::end_document(bytes_, begin);
}

Result<bson::View> DocumentOutput::finish_flat() {
  assert(open_.size() == 1 && "something is still open");
  if (error_) return gridmount::fail(*error_);
  GM_TRY(check_interruption_of(bytes_.size()));
  if (dropped_ > 0) return document_too_large(bytes_.size() + dropped_, kIntermediateBytesMax);
  bson::end_document(bytes_, 0);
  return bson::View(bytes_.data(), static_cast<uint32_t>(bytes_.size()));
}

Result<bson::View> DocumentOutput::finish() {
  GM_ASSIGN(const bson::View document, finish_flat());
  GM_TRY(check_depth(document));
  return document;
}

}  // namespace gridmount::query
