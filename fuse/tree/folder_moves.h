// The tree lock, and folders that are being moved: renaming one takes as long as there are names
// below it, and only who wants something of those names has to wait for it.
//
// The mover locks the tree exclusively twice, for a moment: to say which folders move, when all who
// were using a path have ended, and to make their new paths known. In between, the tree is locked
// by others; who comes for a node in a moving folder waits, and so does who would change paths.
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/thread_safety.h"
#include "fuse/tree/inode_table.h"

namespace gridmount::fuse {

// Instead of a node's number.
inline constexpr uint64_t kWholeTree = 0;

class FolderMoves {
 public:
  // Both outlive this.
  FolderMoves(SharedMutex& tree, InodeTable& table) : tree_(tree), table_(table) {}

  // Returns with the tree locked, when neither node is in a moving folder; kWholeTree: when nothing
  // moves.
  void lock_shared(uint64_t number, std::optional<uint64_t> other) GM_ACQUIRE_SHARED(tree_);
  // Whether any folder moves, and whether this node does: as it was a moment ago. By whoever holds
  // no lock.
  bool any() const { return is_any_.load(std::memory_order_relaxed); }
  bool moves(uint64_t number) const { return any() && table_.is_moving(number); }
  // Until nothing moves.
  void wait() GM_EXCLUDES(tree_);

  // Returns with the tree locked exclusively, when nothing moves.
  void lock() GM_ACQUIRE(tree_);

  // From here to end() these folders move. Both with the tree locked exclusively, which the
  // analysis cannot tell from a lock of its own.
  void begin(std::vector<uint64_t> numbers) GM_NO_THREAD_SAFETY_ANALYSIS;
  void end() GM_NO_THREAD_SAFETY_ANALYSIS;

  // Ends it with the scope, whatever comes of it: others wait for that.
  class End {
   public:
    End(FolderMoves& moves, SharedMutex& tree) : moves_(moves), tree_(tree) {}
    ~End() {
      WriterLock lock(tree_);
      moves_.end();
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

   private:
    FolderMoves& moves_;
    SharedMutex& tree_;
  };

 private:
  // With the tree locked in whatever way: how many moves there have been.
  uint64_t ended() const GM_EXCLUDES(mutex_);
  bool concerns(uint64_t number) const;
  void wait_behind(uint64_t ended) GM_EXCLUDES(mutex_);

  SharedMutex& tree_;
  InodeTable& table_;
  std::vector<uint64_t> moving_ GM_GUARDED_BY(tree_);
  std::atomic<bool> is_any_{false};

  mutable Mutex mutex_;
  Condition changed_;
  uint64_t ended_ GM_GUARDED_BY(mutex_) = 0;
};

// The tree as it is, for a call that concerns these nodes.
class GM_SCOPED_CAPABILITY TreeReader {
 public:
  TreeReader(FolderMoves& moves, SharedMutex& tree, uint64_t number,
             std::optional<uint64_t> other = {})
      GM_ACQUIRE_SHARED(tree) GM_NO_THREAD_SAFETY_ANALYSIS : tree_(tree) {
    moves.lock_shared(number, other);
  }
  ~TreeReader() GM_RELEASE_GENERIC() { tree_.unlock_shared(); }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;

 private:
  SharedMutex& tree_;
};

// For who changes paths.
class GM_SCOPED_CAPABILITY TreeWriter {
 public:
  TreeWriter(FolderMoves& moves, SharedMutex& tree) GM_ACQUIRE(tree) GM_NO_THREAD_SAFETY_ANALYSIS
      : tree_(tree) {
    moves.lock();
  }
  ~TreeWriter() GM_RELEASE() { tree_.unlock(); }
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;

 private:
  SharedMutex& tree_;
};

}  // namespace gridmount::fuse
