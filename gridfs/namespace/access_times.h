// Keeps the new atimes of a bucket's nodes until they are written to the documents.
//
// The rule is Linux's relatime: a read changes a node's atime if the atime is not later than mtime,
// or not later than ctime, or a day old. With strictatime every read changes the atime. The mount
// shows a change at once. A background thread writes many changes in one transaction: a minute
// after the first change, or earlier if there are many changes. close() writes the rest. A kill of
// the process loses the changes that are not written yet. Directories that are only implied keep no
// atime, because they have no document. The atime of a file whose document does not accept POSIX
// fields (posix_place.h) is never written. An atime stays recorded in memory until it is written.
// The atime of an open file stays recorded until the file has been closed. While 65,536 atimes are
// recorded, reads change no atime.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/base/background_thread.h"
#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/path_namespace.h"
#include "gridfs/namespace/seen_directories.h"

namespace gridmount::gridfs {

class AccessTimes {
 public:
  // Returns true if the file is open. An open file shows the fields that its document had when it
  // was opened, so a written atime must stay here until the file is closed. AccessTimes calls this
  // function without holding its own lock.
  using IsOpen = std::function<bool(bson::ValueView file_id)>;

  // How long the first of the unwritten atimes waits to be written.
  static constexpr std::chrono::milliseconds kWriteDelay{60'000};

  // `bucket` and `seen_directories` must outlive this object. `seen_directories` forgets the
  // directories whose atime is written. With kNone nothing is ever recorded.
  AccessTimes(const Bucket& bucket, AccessTimeMode mode, bool strict, IsOpen is_open,
              SeenDirectories& seen_directories,
              std::chrono::milliseconds write_delay = kWriteDelay);
  ~AccessTimes() { thread_.stop(); }
  AccessTimes(const AccessTimes&) = delete;
  AccessTimes& operator=(const AccessTimes&) = delete;

  // Records a read of the node. `node` must have the attributes that programs see. Returns true if
  // the atime of the node has changed.
  bool note(const Node& node) GM_EXCLUDES(mutex_);
  // Sets the atime of the node to the recorded atime if the recorded one is later.
  void apply(Node& node) const GM_EXCLUDES(mutex_);
  // Drops the recorded atime of a node whose atime is about to be set.
  void drop(NodeKind kind, const bson::Value& id) GM_EXCLUDES(mutex_);

  // Stops the background thread and writes all recorded atimes. The first error ends the writing.
  Status close() GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  struct Noted {
    timespec atime{};
    // The document has the atime, but a file that was opened before may not show it.
    bool written = false;
  };
  using ById = std::unordered_map<bson::Value, Noted, bson::ValueHash>;
  struct Key {
    NodeKind kind;
    bson::Value id;
  };

  bool keeps(NodeKind kind) const;
  ById& recorded(NodeKind kind) GM_REQUIRES(mutex_) {
    return kind == NodeKind::kFile ? files_ : directories_;
  }
  const ById& recorded(NodeKind kind) const GM_REQUIRES(mutex_) {
    return kind == NodeKind::kFile ? files_ : directories_;
  }
  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  Status write_all() GM_EXCLUDES(mutex_);
  Status write_some(std::span<const Key> keys) GM_EXCLUDES(mutex_);
  // Returns the atimes of one kind that must be written, in the order of _id, because documents
  // with adjacent _ids are near each other.
  std::vector<Key> unwritten(NodeKind kind) const GM_EXCLUDES(mutex_);
  std::optional<timespec> find_unwritten(const Key& key) const GM_EXCLUDES(mutex_);
  Status write_one(engine::Transaction& transaction, const Key& key, const timespec& atime) const;
  // Drops written atimes of files that are no longer open.
  void drop_written() GM_EXCLUDES(mutex_);

  const Bucket& bucket_;
  const AccessTimeMode mode_;
  const bool strict_;
  const IsOpen is_open_;
  SeenDirectories& seen_directories_;
  const std::chrono::milliseconds write_delay_;

  mutable Mutex mutex_;
  ById files_ GM_GUARDED_BY(mutex_);
  ById directories_ GM_GUARDED_BY(mutex_);
  size_t unwritten_ GM_GUARDED_BY(mutex_) = 0;
  // The time at which the next write is due. Valid only while unwritten_ > 0.
  Clock::time_point due_ GM_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
