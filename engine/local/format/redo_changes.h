// The changes that one write transaction makes to the trees, in the format of the log (FORMAT.md,
// "redo").
//
// The log has no large transactions. When a RedoChanges exceeds its limit, it drops all changes,
// becomes incomplete, and ignores further changes. It does the same if it cannot allocate memory,
// so no function throws.
//
// Not thread-safe. The holder of the write lock fills a RedoChanges, and may then pass it to the
// log, which owns it from then on (redo_log.h).
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
  // The default of `bytes_max`: the limit for the changes of one transaction.
  static constexpr size_t kBytesMax = size_t{64} << 10;

  RedoChanges() = default;
  // `bytes_max` limits the size of bytes().
  explicit RedoChanges(size_t bytes_max) : bytes_max_(bytes_max) {}

  // `tree` is 0 for the catalog, otherwise one more than the position in TreeHandles::keyspaces.
  // A number above 255, such as kNoTree, makes the object incomplete.
  static constexpr uint32_t kNoTree = UINT32_MAX;
  void put(uint32_t tree, std::string_view key, std::string_view value) noexcept;
  // Adds a change whose value is not known yet. The caller must write the `size` bytes at
  // `filled_later` before it next calls a member function, because that call copies them.
  void put(uint32_t tree, std::string_view key, const uint8_t* filled_later, size_t size) noexcept;
  void remove(uint32_t tree, std::string_view key) noexcept;
  // Makes the object incomplete. Must be called if the transaction has made, or may have made, a
  // change that this object does not have.
  void mark_incomplete() noexcept;
  // Appends the changes of a nested transaction. flush() must have been called on `nested`.
  void append(const RedoChanges& nested) noexcept;

  // Returns false if changes are missing. Then bytes() is empty.
  bool is_complete() const { return complete_; }
  // Returns the changes in the format of the log. flush() must be called first.
  const std::string& bytes() const { return bytes_; }
  // Copies the value of the last put() with `filled_later`, if it has not been copied yet.
  void flush() noexcept;

 private:
  bool begin(uint8_t kind, uint32_t tree, std::string_view key, const size_t* value_bytes) noexcept;

  size_t bytes_max_ = kBytesMax;
  bool complete_ = true;
  std::string bytes_;
  const uint8_t* unfilled_ = nullptr;  // the last change's value, if it has not been copied yet
  size_t unfilled_bytes_ = 0;
};

// One of the changes in RedoChanges::bytes().
struct RedoChange {
  bool is_put = false;  // true: the key gets the value; false: the key is removed
  uint32_t tree = 0;    // numbered as in RedoChanges::put()
  std::string_view key;
  std::string_view value;
};
// Calls `work` for each change, in order. If a call fails, stops and returns its error. Fails with
// StoreDamaged if the bytes are not a list of changes. `trees` is the number of trees besides the
// catalog. The views of a change refer to `bytes`.
Status for_each_change(std::string_view bytes, size_t trees,
                       const std::function<Status(const RedoChange&)>& work);

}  // namespace gridmount::local
