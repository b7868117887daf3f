#include "fuse/tree/folder_moves.h"

#include <utility>

namespace gridmount::fuse {

uint64_t FolderMoves::ended() const {
  MutexLock lock(mutex_);
  return ended_;
}

void FolderMoves::wait_behind(uint64_t ended) {
  MutexLock lock(mutex_);
  while (ended_ == ended) changed_.wait(mutex_);
}

bool FolderMoves::concerns(uint64_t number) const {
  return number == kWholeTree || table_.is_moving(number);
}

void FolderMoves::lock_shared(uint64_t number,
                              std::optional<uint64_t> other) GM_NO_THREAD_SAFETY_ANALYSIS {
  while (true) {
    tree_.lock_shared();
    if (moving_.empty() || !(concerns(number) || (other && concerns(*other)))) return;
    // Read before the tree lock is released, because the move cannot end before that.
    const uint64_t before = ended();
    tree_.unlock_shared();
    wait_behind(before);
  }
}

void FolderMoves::wait() GM_NO_THREAD_SAFETY_ANALYSIS {
  lock_shared(kWholeTree, std::nullopt);
  tree_.unlock_shared();
}

void FolderMoves::lock() GM_NO_THREAD_SAFETY_ANALYSIS {
  while (true) {
    tree_.lock();
    if (moving_.empty()) return;
    const uint64_t before = ended();
    tree_.unlock();
    wait_behind(before);
  }
}

void FolderMoves::begin(std::vector<uint64_t> numbers) {
  moving_ = std::move(numbers);
  is_any_.store(!moving_.empty(), std::memory_order_relaxed);
  for (const uint64_t number : moving_) table_.set_moving(number, true);
}

void FolderMoves::end() {
  for (const uint64_t number : moving_) table_.set_moving(number, false);
  moving_.clear();
  is_any_.store(false, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

}  // namespace gridmount::fuse
