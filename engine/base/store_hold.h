// Marks a thread that every reader of a store may wait for: it has a short transaction or a short
// snapshot (engine/store.h, S6). Such a thread must not wait for a lock that another thread holds
// while it begins to read or to write, or both would wait for ever.
//
// Thread-safety: a StoreHold belongs to the thread that made it. is_held() concerns the calling
// thread.
#pragma once

namespace gridmount {

class StoreHold {
 public:
  StoreHold() { ++holds(); }
  ~StoreHold() { --holds(); }
  StoreHold(const StoreHold&) = delete;
  StoreHold& operator=(const StoreHold&) = delete;

  // Returns whether the calling thread has one.
  static bool is_held() { return holds() > 0; }

 private:
  static int& holds() {
    thread_local int count = 0;
    return count;
  }
};

}  // namespace gridmount
