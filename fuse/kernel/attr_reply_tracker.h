// Tracks which thread was last sent the attributes of a directory, to close a race with the
// kernel's attribute cache.
//
// If the kernel gets two replies with attributes, it keeps those of the newer reply. But the kernel
// does not treat a change in a directory as newer than a reply. Suppose one thread has received
// attributes that were read before a change by another thread, and stores them in the cache only
// after that change. The kernel would then keep the old attributes until they expire. So if another
// thread was recently sent the directory's attributes, the thread that changes the directory must
// make the kernel ask again.
//
// Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class AttrReplyTracker {
 public:
  // Must be called after a directory's attributes were read for the reply to a request of `thread`.
  // For a request of the attributes alone (getattr), must also be called before they are read.
  void sent(uint64_t directory, pid_t thread) {
    Slot& slot = slot_of(directory);
    const MutexLock lock(slot.mutex);
    if (thread != slot.thread) slot.other_sent_at = slot.sent_at;
    slot.thread = thread;
    slot.sent_at = Clock::now();
  }
  // Must be called when the thread's change is in the store, before the reply. Returns true if
  // another thread was sent the directory's attributes recently. Replies to the calling thread
  // itself do not matter, because that thread stored them before it requested the change.
  // Directories share slots, so the result may be true without need.
  bool was_sent_to_another(uint64_t directory, pid_t thread) {
    Slot& slot = slot_of(directory);
    const MutexLock lock(slot.mutex);
    const Clock::time_point sent_at = thread == slot.thread ? slot.other_sent_at : slot.sent_at;
    return Clock::now() - sent_at < kStored;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // More than the time that a thread needs to store the attributes it received.
  static constexpr std::chrono::milliseconds kStored{200};
  static constexpr size_t kSlots = 1024;  // directories share them

  struct Slot {
    Mutex mutex;
    pid_t thread GM_GUARDED_BY(mutex) = 0;  // the thread that was last sent attributes
    Clock::time_point sent_at GM_GUARDED_BY(mutex);
    Clock::time_point other_sent_at GM_GUARDED_BY(mutex);  // the last `sent_at` of another thread
  };
  Slot& slot_of(uint64_t directory) { return slots_[directory % kSlots]; }

  std::array<Slot, kSlots> slots_;
};

}  // namespace gridmount::fuse
