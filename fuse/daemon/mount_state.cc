#include "fuse/daemon/mount_state.h"

#include "gridfs/content/chunk_cache.h"

namespace gridmount::fuse {

MountState mount_state(Session& session, Buckets& buckets) {
  MountState state;
  state.operations = session.statistics().summaries();
  state.in_progress = session.in_progress().list();
  state.files = buckets.file_usage();
  Result<engine::StoreStats> store = buckets.store().stats();
  if (store) state.store = *store;
  const auto& chunk_cache = buckets.settings().files.chunk_cache;
  if (chunk_cache && chunk_cache->disk() != nullptr)
    state.disk_cache = chunk_cache->disk()->usage();
  return state;
}

}  // namespace gridmount::fuse
