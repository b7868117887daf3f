// Takes the tree lock, and marks directories that are being moved. The more names are below a
// directory, the longer its rename takes. Only operations on these names should wait for the
// rename.
//
// The mover locks the tree exclusively twice, each time for a moment. First it waits until no
// operation uses a path, and marks the directories that move. At the end it publishes their new
// paths. In between, other threads may lock the tree. An operation waits if moves() is true for its
// node, or if it would change paths.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/thread_safety.h"
#include "fuse/tree/inode_table.h"

namespace gridmount::fuse {

// Stands for the whole tree where a function takes a node's ino.
inline constexpr uint64_t kWholeTree = 0;

class DirectoryMoves {
 public:
  // `tree` and `table` must outlive this object.
  DirectoryMoves(SharedMutex& tree, InodeTable& table) : tree_(tree), table_(table) {}

  // Waits until moves() is false for both nodes. With kWholeTree, waits until no directory moves.
  // Returns with the tree locked shared.
  void lock_shared(uint64_t ino, std::optional<uint64_t> other) GM_ACQUIRE_SHARED(tree_);
  // any() returns true if any directory moves. moves() returns true if the node is a directory that
  // moves, or a directory below one. It returns false for a file. The caller needs no lock. The
  // result may already be out of date.
  bool any() const { return is_any_.load(std::memory_order_relaxed); }
  bool moves(uint64_t ino) const { return any() && table_.is_moving(ino); }
  // Waits until no directory moves. Returns without the lock.
  void wait() GM_EXCLUDES(tree_);

  // Waits until no directory moves. Returns with the tree locked exclusively.
  void lock() GM_ACQUIRE(tree_);

  // Marks these directories as moving until end(). The caller of begin() and of end() must hold the
  // tree lock exclusively. The thread-safety analysis cannot see that the caller's lock is `tree_`.
  void begin(std::vector<uint64_t> inos) GM_NO_THREAD_SAFETY_ANALYSIS;
  void end() GM_NO_THREAD_SAFETY_ANALYSIS;

  // The destructor calls end(), also after an error, because other threads wait for it.
  class End {
   public:
    End(DirectoryMoves& moves, SharedMutex& tree) : moves_(moves), tree_(tree) {}
    ~End() {
      WriterLock lock(tree_);
      moves_.end();
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

   private:
    DirectoryMoves& moves_;
    SharedMutex& tree_;
  };

 private:
  // Returns how many moves have ended. The caller must hold the tree lock, shared or exclusively.
  uint64_t ended() const GM_EXCLUDES(mutex_);
  bool concerns(uint64_t ino) const;
  void wait_behind(uint64_t ended) GM_EXCLUDES(mutex_);

  SharedMutex& tree_;
  InodeTable& table_;
  std::vector<uint64_t> moving_ GM_GUARDED_BY(tree_);
  std::atomic<bool> is_any_{false};

  mutable Mutex mutex_;
  Condition changed_;
  uint64_t ended_ GM_GUARDED_BY(mutex_) = 0;
};

// Locks the tree shared, for an operation on these nodes.
class GM_SCOPED_CAPABILITY TreeReadLock {
 public:
  TreeReadLock(DirectoryMoves& moves, SharedMutex& tree, uint64_t ino,
               std::optional<uint64_t> other = {})
      GM_ACQUIRE_SHARED(tree) GM_NO_THREAD_SAFETY_ANALYSIS : tree_(tree) {
    moves.lock_shared(ino, other);
  }
  ~TreeReadLock() GM_RELEASE_GENERIC() { tree_.unlock_shared(); }
  TreeReadLock(const TreeReadLock&) = delete;
  TreeReadLock& operator=(const TreeReadLock&) = delete;

 private:
  SharedMutex& tree_;
};

// Locks the tree exclusively, for an operation that changes paths.
class GM_SCOPED_CAPABILITY TreeWriteLock {
 public:
  TreeWriteLock(DirectoryMoves& moves, SharedMutex& tree)
      GM_ACQUIRE(tree) GM_NO_THREAD_SAFETY_ANALYSIS : tree_(tree) {
    moves.lock();
  }
  ~TreeWriteLock() GM_RELEASE() { tree_.unlock(); }
  TreeWriteLock(const TreeWriteLock&) = delete;
  TreeWriteLock& operator=(const TreeWriteLock&) = delete;

 private:
  SharedMutex& tree_;
};

}  // namespace gridmount::fuse
