// The changes that one write transaction makes to the trees, in the format of the log (FORMAT.md,
// "redo").
//
// The log does not take large transactions. Above its limit the object drops all changes, becomes
// incomplete, and ignores further changes. It does the same when memory runs out, so no function
// throws.
//
// Not thread-safe. Only the holder of the write lock uses it.
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
  // The limit of one transaction.
  static constexpr size_t kBytesMax = size_t{64} << 10;

  RedoChanges() = default;
  // `bytes_max` limits the size of bytes().
  explicit RedoChanges(size_t bytes_max) : bytes_max_(bytes_max) {}

  // `tree` is 0 for the catalog, otherwise one more than the position in TreeHandles::keyspaces.
  // Any other number, such as kNoTree, makes the object incomplete.
  static constexpr uint32_t kNoTree = UINT32_MAX;
  void put(uint32_t tree, std::string_view key, std::string_view value) noexcept;
  // Adds a change whose value is not known yet. The caller must write the `size` bytes at
  // `filled_later` before the next call of a member function, which copies them.
  void put(uint32_t tree, std::string_view key, const uint8_t* filled_later, size_t size) noexcept;
  void remove(uint32_t tree, std::string_view key) noexcept;
  // Makes the object incomplete: the transaction made, or may have made, a change that is not here.
  void mark_incomplete() noexcept;
  // Appends the changes of a nested transaction. flush() must have been called on `nested`.
  void append(const RedoChanges& nested) noexcept;

  // Returns false if changes are missing. Then bytes() is empty.
  bool is_complete() const { return complete_; }
  // The changes in the format of the log. Call flush() first.
  const std::string& bytes() const { return bytes_; }
  // Copies the value of the last put() with `filled_later`, if it is still to be copied.
  void flush() noexcept;

 private:
  bool begin(uint8_t kind, uint32_t tree, std::string_view key, const size_t* value_bytes) noexcept;

  size_t bytes_max_ = kBytesMax;
  bool complete_ = true;
  std::string bytes_;
  const uint8_t* unfilled_ = nullptr;  // the last change's value, if it is still to be copied
  size_t unfilled_bytes_ = 0;
};

// One change out of RedoChanges::bytes().
struct RedoChange {
  bool is_put = false;  // true: the key gets the value; false: the key is removed
  uint32_t tree = 0;    // numbered as in RedoChanges::put()
  std::string_view key;
  std::string_view value;
};
// Calls `work` for each change, in order, until one call fails, and returns that error. Fails with
// StoreDamaged if the bytes are not changes. `trees` is the number of trees besides the catalog.
Status for_each_change(std::string_view bytes, size_t trees,
                       const std::function<Status(const RedoChange&)>& work);

}  // namespace gridmount::local
