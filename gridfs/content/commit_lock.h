// The commit lock of an OpenFile. While a thread holds it, no other thread commits the file. The
// lock works like a mutex, but consists of OpenFile::committing_ and a condition. A thread holds it
// during the whole transaction, so no thread that has a transaction takes it.
//
// Thread-safe: each thread makes an object of its own.
#pragma once

#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {

class OpenFile::CommitLock {
 public:
  explicit CommitLock(OpenFile& file) : file_(file) {
    GM_COSTLY_INVARIANT("S6", !StoreHold::is_held(), "the commit lock of a file");
    MutexLock lock(file_.mutex_);
    while (file_.committing_) file_.commit_ended_.wait(file_.mutex_);
    file_.committing_ = true;
  }
  ~CommitLock() {
    MutexLock lock(file_.mutex_);
    file_.committing_ = false;
    file_.commit_ended_.notify_all();
  }
  CommitLock(const CommitLock&) = delete;
  CommitLock& operator=(const CommitLock&) = delete;

 private:
  OpenFile& file_;
};

}  // namespace gridmount::gridfs
