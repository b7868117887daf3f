#include "gridfs/namespace/subdirectory_counts.h"

#include <limits>

namespace gridmount::gridfs {

void SubdirectoryCounts::made(const bson::Value& directory) {
  if (!keeps_any_) return;
  MutexLock lock(mutex_);
  if (counts_.size() < kDirectoriesMax) counts_.insert_or_assign(directory, 0);
}

void SubdirectoryCounts::removed(const bson::Value& directory) {
  MutexLock lock(mutex_);
  counts_.erase(directory);
}

void SubdirectoryCounts::changed(const bson::Value& directory, int64_t by) {
  MutexLock lock(mutex_);
  const auto found = counts_.find(directory);
  if (found == counts_.end()) return;
  found->second += by;
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max() - 2;
  if (found->second < 0 || found->second > kMax) counts_.erase(found);
}

void SubdirectoryCounts::drop_all() {
  MutexLock lock(mutex_);
  counts_.clear();
}

void SubdirectoryCounts::apply(Node& node) const {
  if (node.kind != NodeKind::kDirectory) return;
  MutexLock lock(mutex_);
  const auto found = counts_.find(node.id);
  if (found != counts_.end()) node.attributes.nlink = 2 + static_cast<uint32_t>(found->second);
}

}  // namespace gridmount::gridfs
