// What one write transaction changes in the trees, as the log has it (FORMAT.md, "redo").
//
// Large ones are not for the log: above kBytesMax nothing is kept and the rest costs nothing. The
// same where memory is short, so that nothing here throws.
//
// Thread-safety: none; belongs to whoever has the writers' turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::local {

class RedoChanges {
 public:
  static constexpr size_t kBytesMax = size_t{64} << 10;

  // `tree` is 0 for the catalog, else one more than the position in TreeHandles::ranges. Nothing is
  // kept of a transaction that changes another tree.
  static constexpr uint32_t kNoTree = UINT32_MAX;
  void put(uint32_t tree, std::string_view key, std::string_view value) noexcept;
  // The value stands at `filled_later` when the next call is made.
  void put(uint32_t tree, std::string_view key, const uint8_t* filled_later, size_t size) noexcept;
  void remove(uint32_t tree, std::string_view key) noexcept;
  // There was, or may have been, a change that is not here.
  void give_up() noexcept;
  // Those of a transaction nested in this one, made after these, and settled.
  void append(const RedoChanges& nested) noexcept;

  // False: they are not all here, and bytes() is empty.
  bool is_complete() const { return complete_; }
  // Call settle() first, when the last value has been filled in.
  const std::string& bytes() const { return bytes_; }
  void settle() noexcept;

 private:
  bool begin(uint8_t kind, uint32_t tree, std::string_view key, const size_t* value_bytes) noexcept;

  bool complete_ = true;
  std::string bytes_;
  const uint8_t* unfilled_ = nullptr;  // of the last change, its value
  size_t unfilled_bytes_ = 0;
};

// One of those that bytes() holds.
struct RedoChange {
  bool is_put = false;  // else the key is removed
  uint32_t tree = 0;    // as above
  std::string_view key;
  std::string_view value;
};
// In their order, until one fails. StoreDamaged if they are none.
Status for_each_change(std::string_view bytes, size_t trees,
                       const std::function<Status(const RedoChange&)>& work);

}  // namespace gridmount::local
