// Whom the kernel was last told the attributes of folders for. Of two answers it knows which is the
// newer one; but a change of a folder's names it does not count as an answer. So attributes that
// were read before such a change, and that the thread which asked comes to note after it, would be
// kept for as long as any are: where another thread than that which changes the folder has just
// been told of it, the kernel is to be had ask again.
//
// Thread-safety: thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class AttributeAnswers {
 public:
  // To be called when a folder's attributes are going to be read for a thread of the kernel's
  // callers, and when they have been.
  void told(uint64_t folder, pid_t thread) {
    Slot& slot = slot_of(folder);
    const MutexLock lock(slot.mutex);
    if (thread != slot.thread) slot.other_told_at = slot.told_at;
    slot.thread = thread;
    slot.told_at = Clock::now();
  }
  // To be asked when that thread's change is in the store, before it is answered. What it was told
  // itself it has noted before it asked for the change. May be true of other folders, too.
  bool is_told_to_another(uint64_t folder, pid_t thread) {
    Slot& slot = slot_of(folder);
    const MutexLock lock(slot.mutex);
    const Clock::time_point told_at = thread == slot.thread ? slot.other_told_at : slot.told_at;
    return Clock::now() - told_at < kNoted;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Above the time that a thread takes to note what it was told.
  static constexpr std::chrono::milliseconds kNoted{200};
  static constexpr size_t kSlots = 1024;  // folders share them

  struct Slot {
    Mutex mutex;
    pid_t thread GM_GUARDED_BY(mutex) = 0;  // told last
    Clock::time_point told_at GM_GUARDED_BY(mutex);
    Clock::time_point other_told_at GM_GUARDED_BY(mutex);  // another than that one
  };
  Slot& slot_of(uint64_t folder) { return slots_[folder % kSlots]; }

  std::array<Slot, kSlots> slots_;
};

}  // namespace gridmount::fuse
