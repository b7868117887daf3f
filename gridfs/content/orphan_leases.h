// Protects the open orphans of this process (files without a name) in a store that other processes
// use too. Each orphan in `detached` has a lease: the time at which its owner last renewed it. This
// class renews the leases of open files, and an UploadStream renews its own. Every process that is
// ready to change the bucket removes the orphans whose lease is older than kOrphanLease
// (Bucket::reclaim_expired()). Each process takes the time from the clock of its own machine. So
// the clocks must agree to within some hours.
//
// Thread-safe.
#pragma once

#include "engine/base/background_thread.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/content/open_files.h"

namespace gridmount::gridfs {

class OrphanLeases {
 public:
  // `bucket` and `open_files` must outlive this object.
  OrphanLeases(const Bucket& bucket, OpenFiles& open_files);

  // Starts the thread. It renews our leases and removes expired orphans, at once and then every
  // hour.
  void start() { thread_.wake(); }
  void stop() { thread_.stop(); }

 private:
  BackgroundThread::Clock::time_point renew_and_sweep();

  const Bucket& bucket_;
  OpenFiles& open_files_;
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
