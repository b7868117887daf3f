#include "http/site_nodes.h"

#include <sys/stat.h>

#include <utility>

#include "gridfs/bucket/error.h"
#include "gridfs/namespace/nodes.h"

namespace gridmount::http {

bool is_regular(uint32_t mode) {
  return (mode & S_IFMT) == 0 || S_ISREG(mode);
}

bool is_regular(const gridfs::FilesDocument& file) {
  return is_regular(
      gridfs::mode_of_file(file.posix.mode.value_or(0), file.posix.symlink_target.has_value()));
}

Result<gridfs::Node> find_node(gridfs::PathNamespace& paths, const Target& target) {
  GM_ASSIGN(gridfs::Node node, paths.root());
  for (size_t i = 1; i < target.components.size(); ++i) {
    if (node.kind != gridfs::NodeKind::kDirectory) {
      return fail(gridfs::kNoSuchEntry, "'" + target.components[i - 1] + "' is no directory");
    }
    GM_ASSIGN(node, paths.lookup(node.path, target.components[i]));
  }
  if (target.ends_with_slash && node.kind != gridfs::NodeKind::kDirectory) {
    return fail(gridfs::kNoSuchEntry, "'" + target.components.back() + "' is no directory");
  }
  return node;
}

Result<gridfs::FilesDocument> read_file(const gridfs::Bucket& bucket, bson::ValueView id) {
  GM_ASSIGN(const auto stream, bucket.open_download_stream(id, gridfs::ByteRange{}));
  return stream->file();
}

std::shared_ptr<const gridfs::Bucket> bucket_of(std::shared_ptr<gridfs::PathNamespace> paths) {
  const gridfs::Bucket* const bucket = &paths->bucket();
  return {std::move(paths), bucket};
}

}  // namespace gridmount::http
