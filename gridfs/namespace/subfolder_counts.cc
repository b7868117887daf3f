#include "gridfs/namespace/subfolder_counts.h"

#include <limits>

namespace gridmount::gridfs {

void SubfolderCounts::made(const bson::Value& folder) {
  MutexLock lock(mutex_);
  if (counts_.size() < kFoldersMax) counts_.insert_or_assign(folder, 0);
}

void SubfolderCounts::removed(const bson::Value& folder) {
  MutexLock lock(mutex_);
  counts_.erase(folder);
}

void SubfolderCounts::changed(const bson::Value& folder, int64_t by) {
  MutexLock lock(mutex_);
  const auto found = counts_.find(folder);
  if (found == counts_.end()) return;
  found->second += by;
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max() - 2;
  if (found->second < 0 || found->second > kMax) counts_.erase(found);
}

void SubfolderCounts::forget_all() {
  MutexLock lock(mutex_);
  counts_.clear();
}

void SubfolderCounts::apply(Node& node) const {
  if (node.kind != NodeKind::kDirectory) return;
  MutexLock lock(mutex_);
  const auto found = counts_.find(node.id);
  if (found != counts_.end()) node.attributes.nlink = 2 + static_cast<uint32_t>(found->second);
}

}  // namespace gridmount::gridfs
