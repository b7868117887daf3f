#include "gridfs/content/orphan_leases.h"

#include "gridfs/bucket/retry.h"

namespace gridmount::gridfs {

OrphanLeases::OrphanLeases(const Bucket& bucket, OpenFiles& open_files)
    : bucket_(bucket),
      open_files_(open_files),
      thread_("gm-leases", BackgroundThread::Priority::kLow,
              [this] { return std::optional(renew_and_sweep()); }) {}

BackgroundThread::Clock::time_point OrphanLeases::renew_and_sweep() {
  // A lease outlives many renewals that fail.
  constexpr std::chrono::hours kInterval{1};
  engine::Store& store = bucket_.store();
  const std::vector<bson::Value> orphans = open_files_.orphans();
  // A step that fails is repeated an hour later. A user without the right to remove has no orphans.
  (void)with_retry(store, [&] { return bucket_.renew_leases(orphans); });
  (void)with_retry(store, [&] { return bucket_.reclaim_expired(); });
  return BackgroundThread::Clock::now() + kInterval;
}

}  // namespace gridmount::gridfs
