// A cache of the directories whose names are all known: this process has made the directory, and
// every name in it. A name that such a directory lacks is absent, so a look-up and the creation of
// the name need no search in the store. The kernel looks up every name before it makes the name, so
// such look-ups are the most frequent ones of programs that write trees.
//
// The cache is used for a store that this process alone has. Clients of this process (drivers) can
// make names too: ChangesByOthers counts them, and each new count empties the cache.
//
// The cache has a hash of each name. If two names have the same hash, an absent name seems to be
// present, and is searched for in the store.
//
// made(), making() and ChangesByOthers::making_name() are called by a thread that has a transaction
// of the store, before it commits the name. So a later transaction finds in the cache every name
// that earlier ones have made. If the transaction fails, the cache has a name too many, which does
// no harm.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/base/thread_safety.h"
#include "gridfs/namespace/changes_by_others.h"

namespace gridmount::gridfs {

class CompleteDirectories {
 public:
  // The maximum number of directories and names in the cache, which take about 5 MiB. Before it
  // exceeds this number, the cache is emptied.
  static constexpr size_t kNamesMax = 100'000;

  // If `others` is null, nothing is known of the names that others make, and the cache stays empty.
  explicit CompleteDirectories(std::shared_ptr<const ChangesByOthers> others)
      : others_(std::move(others)) {}

  bool is_used() const { return others_ != nullptr; }

  // Records that this process makes the directory, which has no names yet.
  void made(std::string_view directory) GM_EXCLUDES(mutex_) {
    if (!others_) return;
    const MutexLock lock(mutex_);
    notice_others();
    make_room();
    Hashes& hashes = directories_[std::string(directory)];
    names_ -= hashes.size();
    hashes.clear();
  }

  // Records that this process makes the name in the directory.
  void making(std::string_view directory, std::string_view component) GM_EXCLUDES(mutex_) {
    if (!others_) return;
    const MutexLock lock(mutex_);
    make_room();
    const auto found = directories_.find(std::string(directory));
    if (found == directories_.end()) return;
    if (found->second.insert(hash_of(component)).second) ++names_;
  }

  // Returns true if the directory is known not to have the name.
  bool is_absent(std::string_view directory, std::string_view component) GM_EXCLUDES(mutex_) {
    if (!others_) return false;
    const MutexLock lock(mutex_);
    notice_others();
    const auto found = directories_.find(std::string(directory));
    return found != directories_.end() && !found->second.contains(hash_of(component));
  }

  // Empties the cache. Must be called with an open transaction that moves a directory, before the
  // transaction commits. Must also be called after a transaction in which made() was called has
  // failed to commit.
  void forget_all() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    clear();
  }

 private:
  using Hashes = std::unordered_set<uint64_t>;

  static uint64_t hash_of(std::string_view component) {
    return std::hash<std::string_view>()(component);
  }
  void notice_others() GM_REQUIRES(mutex_) {
    const uint64_t count = others_->names();
    if (count == seen_of_others_) return;
    seen_of_others_ = count;
    clear();
  }
  void make_room() GM_REQUIRES(mutex_) {
    if (directories_.size() + names_ >= kNamesMax) clear();
  }
  void clear() GM_REQUIRES(mutex_) {
    directories_.clear();
    names_ = 0;
  }

  const std::shared_ptr<const ChangesByOthers> others_;
  mutable Mutex mutex_;
  uint64_t seen_of_others_ GM_GUARDED_BY(mutex_) = 0;
  size_t names_ GM_GUARDED_BY(mutex_) = 0;  // in all directories
  std::unordered_map<std::string, Hashes> directories_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
