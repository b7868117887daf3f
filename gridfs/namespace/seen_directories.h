// A cache of directories' documents that this process has just written. After each change of a name
// the kernel asks for the directory's attributes, and the next change in the directory needs them
// too. With the cache, the answer needs no search in the store.
//
// If this process alone has the store, the cache needs to know what the process's clients (drivers)
// change: ChangesByOthers counts it, and each new count empties the cache. If others change the
// store too, documents are kept for a limited time. get_directory() may use them, and transactions
// must not.
//
// A transaction must call changing() only when no other transaction can change the document before
// the calling one ends: after its own first change of the document, or while it is the only
// transaction of the store. After it has committed, it calls note(). Between the two calls find()
// returns nothing. The order of the calls of changing() is the order of the changes, so the cache
// never replaces a document by an older one.
//
// Exception: a document that the store removes by itself, because a driver has made the collection
// capped or has given it a TTL index, stays in the cache until a change of a name in the directory
// finds no document.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/base/thread_safety.h"
#include "gridfs/namespace/changes_by_others.h"
#include "gridfs/namespace/directory_store.h"

namespace gridmount::gridfs {

class SeenDirectories {
 public:
  // Used if others can change the store: documents are kept for `age_max`. With 0, none is kept.
  explicit SeenDirectories(std::chrono::milliseconds age_max) : age_max_(age_max) {}
  // Used if this process alone has the store. If `others` is null, nothing is known of what clients
  // change, and no document is kept.
  explicit SeenDirectories(std::shared_ptr<const ChangesByOthers> others)
      : others_(std::move(others)) {}

  // Forgets the document, which the caller's transaction changes. Returns a number for note(), or
  // nothing if this object never keeps documents.
  std::optional<uint64_t> changing(const std::string& path) GM_EXCLUDES(mutex_) {
    if (!is_used()) return std::nullopt;
    const MutexLock lock(mutex_);
    notice_others();
    if (directories_.size() >= kDirectoriesMax) directories_.clear();
    ++changes_;
    directories_.insert_or_assign(path, Seen{changes_, std::nullopt, {}});
    return changes_;
  }
  // Keeps the document that the transaction has committed. `change` is what changing() has
  // returned. Does nothing if the document has been changed or forgotten since then, or if it has
  // fields that can be large: extended attributes, the target of a symlink, or an _id that is
  // not an ObjectId.
  void note(const std::string& path, const DirectoryDocument& directory, uint64_t change)
      GM_EXCLUDES(mutex_) {
    if (directory.posix.xattrs && !directory.posix.xattrs->empty()) return;
    if (directory.posix.symlink_target || directory.id.type() != bson::Type::kObjectId) return;
    const MutexLock lock(mutex_);
    notice_others();
    const auto found = directories_.find(path);
    if (found == directories_.end() || found->second.change != change) return;
    found->second.directory = directory;
    if (!others_) found->second.at = Clock::now();
  }
  // Returns the directory's document, or nothing if it is not kept.
  std::optional<DirectoryDocument> find(std::string_view path) GM_EXCLUDES(mutex_) {
    if (!is_used()) return std::nullopt;
    const MutexLock lock(mutex_);
    notice_others();
    const auto found = directories_.find(std::string(path));
    if (found == directories_.end() || !found->second.directory) return std::nullopt;
    if (!others_ && Clock::now() - found->second.at >= age_max_) return std::nullopt;
    return found->second.directory;
  }
  void forget_all() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    directories_.clear();
  }

  // An object of this class must exist during a change of directories that does not call changing()
  // and note(). The object must be made after the beginning of the transaction. The constructor and
  // the destructor forget all documents.
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
    uint64_t change = 0;                         // the last one
    std::optional<DirectoryDocument> directory;  // empty until the change has been noted
    Clock::time_point at;                        // when it was noted
  };
  static constexpr size_t kDirectoriesMax = 1'000;

  bool is_used() const { return others_ != nullptr || age_max_.count() > 0; }
  void notice_others() GM_REQUIRES(mutex_) {
    if (!others_) return;
    const uint64_t count = others_->directories();
    if (count == seen_of_others_) return;
    seen_of_others_ = count;
    directories_.clear();
  }

  const std::chrono::milliseconds age_max_{0};
  const std::shared_ptr<const ChangesByOthers> others_;
  mutable Mutex mutex_;
  uint64_t seen_of_others_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t changes_ GM_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Seen> directories_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
