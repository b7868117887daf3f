// Fills the trees of a store that is being created, in transactions of bounded size.
//
// Not thread-safe. All calls must come from one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Returns the handles of all trees of a store. TreeHandles::checksums is false, so Trees writes
// entries unchanged and verifies no checksums.
TreeHandles handles_of(const Environment& environment);

class TreeFiller {
 public:
  // `made` is the environment of the new store. `made` must outlive this object, and nobody else
  // may write to `made`.
  explicit TreeFiller(Environment& made) : made_(made), handles_(handles_of(made)) {}

  // Puts the entry. Replaces an entry with the same key. `tree` is a number as in
  // Trees::tree_of_number().
  Status put(size_t tree, const TreeEntry& entry);
  // Puts the entry only if the tree does not have its key.
  Status put_new(size_t tree, const TreeEntry& entry);
  // Removes the key if the tree has it.
  Status remove(size_t tree, std::string_view key);
  // Commits the last transaction. Without this call, the changes of the last transaction are
  // undone.
  Status finish();

  const TreeHandles& handles() const { return handles_; }

 private:
  Status begin();
  Environment& made_;
  const TreeHandles handles_;
  WriteTransaction transaction_;
  std::optional<Trees> trees_;  // the trees of transaction_, if it is open
  size_t bytes_ = 0;
};

}  // namespace gridmount::local
