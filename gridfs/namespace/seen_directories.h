// Documents of directories as this process has just written them, in a store that others change
// too. After each change of a name the kernel asks for the directory's attributes.
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
  // With an age of 0 nothing is kept.
  explicit SeenDirectories(std::chrono::milliseconds age_max) : age_max_(age_max) {}

  // Counts the calls of forget_all().
  uint64_t forgotten() const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return forgotten_;
  }
  // Keeps the document, which has been committed, unless forget_all() was called since forgotten()
  // returned `forgotten`.
  void note(const std::string& path, const DirectoryDocument& directory, uint64_t forgotten)
      GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (age_max_.count() == 0 || forgotten != forgotten_) return;
    if (directories_.size() >= kDirectoriesMax) directories_.clear();
    directories_.insert_or_assign(path, Seen{directory, Clock::now()});
  }
  // Returns a document that is not older than the age.
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

  // A change of directories that does not note what it has written.
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
