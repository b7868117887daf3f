// When the nodes of a bucket were last read, as far as their documents do not say it yet.
//
// The rule is Linux's relatime: reading a node changes its atime if that is not later than its
// mtime and its ctime, or is a day old; or strictatime: each reading does. A change is shown from
// then on and written in its own time, many in one transaction: a minute later, earlier if they are
// many, and at the end. What is not written yet is lost if the process is killed. Folders that are
// only implied have no document to keep it.
//
// Thread-safety: thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/content/background_thread.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

class AccessTimes {
 public:
  // Whether a file is open, and so shows what its document said when it was opened. Called with no
  // lock of this class held.
  using IsOpen = std::function<bool(bson::ValueView file_id)>;

  // `bucket` must outlive this object. With kNone nothing is ever noted.
  AccessTimes(const Bucket& bucket, AccessTimeMode mode, bool strict, IsOpen is_open);
  ~AccessTimes() { thread_.stop(); }
  AccessTimes(const AccessTimes&) = delete;
  AccessTimes& operator=(const AccessTimes&) = delete;

  // The node, as it is shown, is being read: whether its atime changes by it.
  bool note(const Node& node) GM_EXCLUDES(mutex_);
  // Has the node show what is noted.
  void apply(Node& node) const GM_EXCLUDES(mutex_);
  // Its atime is about to be set, and what is noted counts no more.
  void forget(NodeKind kind, const bson::Value& id) GM_EXCLUDES(mutex_);

  // Writes what is noted, and no more is written by itself. The first error.
  Status close() GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  struct Noted {
    timespec atime{};
    // By this the document has it, but who opened the file before may not.
    bool written = false;
  };
  using ById = std::unordered_map<bson::Value, Noted, bson::ValueHash>;
  struct Key {
    NodeKind kind;
    bson::Value id;
  };

  bool keeps(NodeKind kind) const;
  ById& noted(NodeKind kind) GM_REQUIRES(mutex_) {
    return kind == NodeKind::kFile ? files_ : folders_;
  }
  const ById& noted(NodeKind kind) const GM_REQUIRES(mutex_) {
    return kind == NodeKind::kFile ? files_ : folders_;
  }
  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  Status write_all() GM_EXCLUDES(mutex_);
  Status write_some(std::span<const Key> keys) GM_EXCLUDES(mutex_);
  // To be written, of one kind and in the order of the _ids, in which they lie near each other.
  std::vector<Key> unwritten(NodeKind kind) const GM_EXCLUDES(mutex_);
  std::optional<timespec> find_unwritten(const Key& key) const GM_EXCLUDES(mutex_);
  Status write_one(engine::Transaction& transaction, const Key& key, const timespec& atime) const;
  // Of files that are not open any more.
  void forget_written() GM_EXCLUDES(mutex_);

  const Bucket& bucket_;
  const AccessTimeMode mode_;
  const bool strict_;
  const IsOpen is_open_;

  mutable Mutex mutex_;
  ById files_ GM_GUARDED_BY(mutex_);
  ById folders_ GM_GUARDED_BY(mutex_);
  size_t unwritten_ GM_GUARDED_BY(mutex_) = 0;
  Clock::time_point due_ GM_GUARDED_BY(mutex_);  // while there is something to write
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
