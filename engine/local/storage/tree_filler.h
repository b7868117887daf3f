// Puts entries into the trees of a store that is being made, in transactions of bounded size.
//
// Thread-safety: none.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Of all its trees, as they are: nothing is added to what is put or proved of it.
TreeHandles handles_of(const Environment& environment);

class TreeFiller {
 public:
  // `made` outlives this. Nobody else writes to it.
  explicit TreeFiller(Environment& made) : made_(made), handles_(handles_of(made)) {}

  // In the place of what is there. `tree` is numbered as Trees::tree_of_number() does.
  Status put(size_t tree, const TreeEntry& entry);
  // Only if the key is not there.
  Status put_new(size_t tree, const TreeEntry& entry);
  // What is not there stays so.
  Status remove(size_t tree, std::string_view key);
  // Commits what has been put. Without it the last of that is undone.
  Status finish();

  const TreeHandles& handles() const { return handles_; }

 private:
  Status begin();
  Environment& made_;
  const TreeHandles handles_;
  WriteTransaction transaction_;
  std::optional<Trees> trees_;  // of the transaction
  size_t bytes_ = 0;
};

}  // namespace gridmount::local
