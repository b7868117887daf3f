// A cache of directories' documents that this process has just written. The cache is used for a
// store that others change too. After each change of a name the kernel asks for the directory's
// attributes. With the cache, the answer needs no request to the store.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "gridfs/namespace/directory_store.h"

namespace gridmount::gridfs {

class SeenDirectories {
 public:
  // Documents are kept for `age_max`. With 0, none is kept.
  explicit SeenDirectories(std::chrono::milliseconds age_max) : age_max_(age_max) {}

  // Returns how many times forget_all() was called.
  uint64_t forgotten() const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return forgotten_;
  }
  // Keeps the document, which must have been committed. Does nothing if forget_all() was called
  // since forgotten() returned `forgotten`.
  void note(const std::string& path, const DirectoryDocument& directory, uint64_t forgotten)
      GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (age_max_.count() == 0 || forgotten != forgotten_) return;
    if (directories_.size() >= kDirectoriesMax) directories_.clear();
    directories_.insert_or_assign(path, Seen{directory, Clock::now()});
  }
  // Returns the directory's document if it is younger than `age_max`, or else nothing.
  std::optional<DirectoryDocument> find(std::string_view path) const GM_EXCLUDES(mutex_) {
    if (age_max_.count() == 0) return std::nullopt;
    const MutexLock lock(mutex_);
    const auto found = directories_.find(std::string(path));
    if (found == directories_.end() || Clock::now() - found->second.at >= age_max_) {
      return std::nullopt;
    }
    return found->second.directory;
  }
  void forget_all() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++forgotten_;
    directories_.clear();
  }

  // An object of this class must exist during a change of directories after which note() is not
  // called. The constructor and the destructor forget all documents.
  class Forgetting {
   public:
    explicit Forgetting(SeenDirectories& seen) : seen_(seen) { seen_.forget_all(); }
    ~Forgetting() { seen_.forget_all(); }
    Forgetting(const Forgetting&) = delete;
    Forgetting& operator=(const Forgetting&) = delete;

   private:
    SeenDirectories& seen_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    DirectoryDocument directory;
    Clock::time_point at;
  };
  static constexpr size_t kDirectoriesMax = 1'000;

  const std::chrono::milliseconds age_max_;
  mutable Mutex mutex_;
  uint64_t forgotten_ GM_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Seen> directories_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
