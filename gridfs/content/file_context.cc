#include "gridfs/content/file_context.h"

#include "gridfs/bucket/md5.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

FileTableOptions supported(FileTableOptions options) {
  options.md5 = options.md5 && Md5::available();
  return options;
}

}  // namespace

FileContext::FileContext(const Bucket& the_bucket, const FileTableOptions& the_options)
    : bucket(the_bucket),
      options(supported(the_options)),
      memory(std::make_shared<ChunkMemory>(options.dirty_bytes_max)),
      open_files(bucket),
      background_work(bucket, open_files),
      writeback(*memory, options.commit_interval),
      leases(bucket, open_files) {}

bool FileContext::is_room_scarce() const {
  constexpr int64_t kScarceBytes = 256 * 1024 * 1024;
  const Result<engine::StoreStats> stats = bucket.store().stats();
  return stats && stats->available_bytes < kScarceBytes;
}

void FileContext::reclaim_removed_files() {
  writeback.release_removed();
  background_work.finish_removals();
}

bool FileContext::make_room(uint64_t bytes) {
  reclaim_removed_files();
  const Result<engine::StoreStats> stats = bucket.store().stats();
  return stats && stats->available_bytes >= static_cast<int64_t>(bytes);
}

}  // namespace gridmount::gridfs
