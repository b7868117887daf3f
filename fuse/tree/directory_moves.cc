#include "fuse/tree/directory_moves.h"

#include <utility>

namespace gridmount::fuse {

uint64_t DirectoryMoves::ended() const {
  MutexLock lock(mutex_);
  return ended_;
}

void DirectoryMoves::wait_behind(uint64_t ended) {
  MutexLock lock(mutex_);
  while (ended_ == ended) changed_.wait(mutex_);
}

bool DirectoryMoves::concerns(uint64_t ino) const {
  return ino == kWholeTree || table_.is_moving(ino);
}

void DirectoryMoves::lock_shared(uint64_t ino,
                                 std::optional<uint64_t> other) GM_NO_THREAD_SAFETY_ANALYSIS {
  while (true) {
    tree_.lock_shared();
    if (moving_.empty() || !(concerns(ino) || (other && concerns(*other)))) return;
    // The number is read before the tree lock is released, because a move cannot end before the
    // release.
    const uint64_t before = ended();
    tree_.unlock_shared();
    wait_behind(before);
  }
}

void DirectoryMoves::wait() GM_NO_THREAD_SAFETY_ANALYSIS {
  lock_shared(kWholeTree, std::nullopt);
  tree_.unlock_shared();
}

void DirectoryMoves::lock() GM_NO_THREAD_SAFETY_ANALYSIS {
  while (true) {
    tree_.lock();
    if (moving_.empty()) return;
    const uint64_t before = ended();
    tree_.unlock();
    wait_behind(before);
  }
}

void DirectoryMoves::begin(std::vector<uint64_t> inos) {
  moving_ = std::move(inos);
  is_any_.store(!moving_.empty(), std::memory_order_relaxed);
  for (const uint64_t ino : moving_) table_.set_moving(ino, true);
}

void DirectoryMoves::end() {
  for (const uint64_t ino : moving_) table_.set_moving(ino, false);
  moving_.clear();
  is_any_.store(false, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

}  // namespace gridmount::fuse
