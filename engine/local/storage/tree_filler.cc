#include "engine/local/storage/tree_filler.h"

namespace gridmount::local {
namespace {

constexpr size_t kBytesAtOnce = 16 * 1024 * 1024;

}  // namespace

TreeHandles handles_of(const Environment& environment) {
  TreeHandles handles{environment.catalog(), {}};
  for (int i = 0; i < Environment::kTreeCount; ++i)
    handles.keyspaces.push_back(environment.tree(i));
  return handles;
}

Status TreeFiller::begin() {
  if (trees_) return {};
  GM_ASSIGN(transaction_, made_.begin_write());
  trees_.emplace(transaction_.lmdb(), handles_, /*writable=*/true);
  return {};
}

Status TreeFiller::put(size_t tree, const TreeEntry& entry) {
  GM_TRY(begin());
  GM_TRY(trees_->put(trees_->tree_of_number(tree), entry.key, entry.value));
  bytes_ += entry.key.size() + entry.value.size();
  return bytes_ < kBytesAtOnce ? Status() : finish();
}

Status TreeFiller::put_new(size_t tree, const TreeEntry& entry) {
  GM_TRY(begin());
  GM_ASSIGN(const std::optional<std::string_view> found,
            trees_->get(trees_->tree_of_number(tree), entry.key));
  return found ? Status() : put(tree, entry);
}

Status TreeFiller::remove(size_t tree, std::string_view key) {
  GM_TRY(begin());
  const MDB_dbi handle = trees_->tree_of_number(tree);
  GM_ASSIGN(const std::optional<std::string_view> found, trees_->get(handle, key));
  if (!found) return {};
  bytes_ += key.size() + found->size();
  GM_TRY(trees_->remove(handle, key));
  return bytes_ < kBytesAtOnce ? Status() : finish();
}

Status TreeFiller::finish() {
  if (!trees_) return {};
  trees_.reset();
  bytes_ = 0;
  return transaction_.commit();
}

}  // namespace gridmount::local
