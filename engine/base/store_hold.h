// Marks the thread that has a short transaction or a short snapshot (engine/store.h, S6). Readers
// of the store may wait for this thread. So it must not wait for a lock that another thread may
// hold while that other thread begins to read or to write: both would wait for ever.
//
// Thread-safety: a StoreHold must be destroyed by the thread that made it. is_held() is
// thread-safe.
#pragma once

namespace gridmount {

class StoreHold {
 public:
  StoreHold() { ++holds(); }
  ~StoreHold() { --holds(); }
  StoreHold(const StoreHold&) = delete;
  StoreHold& operator=(const StoreHold&) = delete;

  // Returns whether the calling thread has a StoreHold.
  static bool is_held() { return holds() > 0; }

 private:
  static int& holds() {
    thread_local int count = 0;
    return count;
  }
};

}  // namespace gridmount
