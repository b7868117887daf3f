#include "gridfs/file_context.h"

#include "gridfs/md5.h"
#include "gridfs/open_file.h"

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
      aftercare(bucket, open_files),
      committer(*memory, options.commit_interval) {}

}  // namespace gridmount::gridfs
