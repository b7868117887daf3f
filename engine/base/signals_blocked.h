// For code in engine and gridfs that starts a thread: keeps signals away from that thread. The
// program handles signals in other threads.
//
// Thread-safety: an object belongs to the thread that makes it.
#pragma once

#include <pthread.h>

#include <csignal>

namespace gridmount {

// Blocks all signals in the calling thread while the object exists. A thread that the calling
// thread starts in this time inherits the blocked signals, and keeps them blocked.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace gridmount
