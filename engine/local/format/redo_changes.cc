#include "engine/local/format/redo_changes.h"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

constexpr uint8_t kPut = 1;
constexpr uint8_t kRemove = 2;
constexpr size_t kChangeHeaderBytes = 4;
constexpr size_t kValueSizeBytes = 4;

template <typename T>
void append_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void RedoChanges::mark_incomplete() noexcept {
  complete_ = false;
  unfilled_ = nullptr;
  bytes_ = std::string();
}

void RedoChanges::flush() noexcept {
  if (unfilled_ == nullptr) return;
  std::memcpy(bytes_.data() + bytes_.size() - unfilled_bytes_, unfilled_, unfilled_bytes_);
  unfilled_ = nullptr;
}

// Appends a change without the bytes of its value. Returns false if the object is incomplete.
bool RedoChanges::begin(uint8_t kind, uint32_t tree, std::string_view key,
                        const size_t* value_bytes) noexcept {
  if (!complete_) return false;
  flush();
  const size_t more = kChangeHeaderBytes + key.size() +
                      (value_bytes == nullptr ? 0 : kValueSizeBytes + *value_bytes);
  if (tree > std::numeric_limits<uint8_t>::max() || more > bytes_max_ ||
      bytes_.size() + more > bytes_max_) {
    mark_incomplete();
    return false;
  }
  try {
    bytes_.push_back(static_cast<char>(kind));
    bytes_.push_back(static_cast<char>(tree));
    append_number(bytes_, static_cast<uint16_t>(key.size()));
    if (value_bytes != nullptr) append_number(bytes_, static_cast<uint32_t>(*value_bytes));
    bytes_.append(key);
    return true;
  } catch (const std::bad_alloc&) {
    mark_incomplete();
    return false;
  }
}

void RedoChanges::put(uint32_t tree, std::string_view key, std::string_view value) noexcept {
  const size_t size = value.size();
  if (!begin(kPut, tree, key, &size)) return;
  try {
    bytes_.append(value);
  } catch (const std::bad_alloc&) {
    mark_incomplete();
  }
}

void RedoChanges::put(uint32_t tree, std::string_view key, const uint8_t* filled_later,
                      size_t size) noexcept {
  if (!begin(kPut, tree, key, &size)) return;
  try {
    bytes_.resize(bytes_.size() + size);
  } catch (const std::bad_alloc&) {
    return mark_incomplete();
  }
  unfilled_ = filled_later;
  unfilled_bytes_ = size;
}

void RedoChanges::remove(uint32_t tree, std::string_view key) noexcept {
  (void)begin(kRemove, tree, key, nullptr);
}

void RedoChanges::append(const RedoChanges& nested) noexcept {
  flush();
  if (!complete_ || !nested.complete_ || bytes_.size() + nested.bytes_.size() > bytes_max_) {
    return mark_incomplete();
  }
  try {
    bytes_ += nested.bytes_;
  } catch (const std::bad_alloc&) {
    mark_incomplete();
  }
}

Status for_each_change(std::string_view bytes, size_t trees,
                       const std::function<Status(const RedoChange&)>& work) {
  const auto damaged = [] {
    return fail(ErrorCode::kStoreDamaged, "a record of the log holds an invalid change");
  };
  while (!bytes.empty()) {
    if (bytes.size() < kChangeHeaderBytes + kValueSizeBytes) {
      if (bytes.size() < kChangeHeaderBytes || bytes[0] != kRemove) return damaged();
    }
    const auto kind = static_cast<uint8_t>(bytes[0]);
    RedoChange change{kind == kPut, static_cast<uint8_t>(bytes[1]), {}, {}};
    const auto key_bytes = load<uint16_t>(bytes, 2);
    if ((kind != kPut && kind != kRemove) || change.tree > trees) return damaged();
    const size_t value_bytes =
        change.is_put ? load<uint32_t>(bytes, kChangeHeaderBytes) : size_t{0};
    bytes.remove_prefix(kChangeHeaderBytes + (change.is_put ? kValueSizeBytes : 0));
    if (bytes.size() < key_bytes + value_bytes) return damaged();
    change.key = bytes.substr(0, key_bytes);
    change.value = bytes.substr(key_bytes, value_bytes);
    GM_TRY(work(change));
    bytes.remove_prefix(key_bytes + value_bytes);
  }
  return {};
}

}  // namespace gridmount::local
