// The control directory of each bucket, as the kernel sees it.
#include <fcntl.h>
#include <sys/stat.h>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"

namespace gridmount::fuse {

namespace {

// A revision gets another number when older revisions are removed, so the same path may lead to
// other content.
double control_cache_seconds(const ControlNode& view) {
  return view.is_directory ? kCacheBriefly : 0;
}

}  // namespace

Result<EntryReply> FileSystem::control_entry(const ResolvedNode& parent, std::string_view name,
                                             std::string_view path) {
  GM_ASSIGN(auto paths, parent.bucket->paths());
  GM_ASSIGN(const ControlNode view,
            control_.find(*paths, path, table_.find_generated(parent.ino, name)));
  const InodeKind kind = view.is_directory ? InodeKind::kControlDirectory : InodeKind::kControlFile;
  const uint64_t ino =
      table_.acquire_control(parent.ino, name, kind, path, view.file, view.generated, view.ino);
  if (ino == 0) {
    return fail(kStaleNode, "the directory of " + std::string(name) + " is not known any more");
  }
  return EntryReply{ino, view.attributes, control_cache_seconds(view)};
}

Result<EntryReply> FileSystem::control_attributes(const ResolvedNode& node,
                                                  const FileHandle* file) const {
  GM_ASSIGN(auto paths, node.bucket->paths());
  if (node.generated) {
    const ControlNode generated = control_.find_generated(*paths, node.generated);
    return EntryReply{node.ino, generated.attributes, control_cache_seconds(generated)};
  }
  const bool has_content = node.id.type() != bson::Type::kNull;
  // The path may lead to other content now.
  Result<ControlNode> view = has_content ? control_.find_content(*paths, node.id.view())
                                         : control_.find(*paths, node.path, nullptr);
  if (view) return EntryReply{node.ino, view->attributes, control_cache_seconds(*view)};
  const bool has_gone = has_content && view.error().code() == gridfs::kNoSuchEntry;
  if (!has_gone) return fail(std::move(view).error());
  // The content is removed, but a process that has it open can still read it.
  if (file == nullptr) return fail(kStaleNode, view.error().message());
  gridfs::Attributes last =
      unlinked_attributes(file->file()->document(), buckets_.settings().paths);
  last.mode &= S_IFMT | 0444;
  return EntryReply{node.ino, last, 0};
}

Result<FileHandle*> FileSystem::open_control(const ResolvedNode& node, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0) return control_is_read_only();
  GM_ASSIGN(auto paths, node.bucket->paths());
  auto handle = std::make_unique<FileHandle>();
  handle->ino = node.ino;
  handle->is_control = true;
  // The handle is counted before the file opens, so that the bucket is not retired in between.
  handle->bucket = node.bucket;
  node.bucket->handles().fetch_add(1);
  handle->paths = paths;
  if (node.generated) {
    node.generated->record_open();
    handle->generated = node.generated;
  } else {
    Result<std::shared_ptr<gridfs::File>> file = paths->open_file(node.id);
    if (!file && file.error().code() == gridfs::kFileNotFound) {
      // On this error, the kernel looks the path of an open(2) up again.
      return fail(kStaleNode, file.error().message());
    }
    if (!file) return fail(std::move(file).error());
    handle->set_file(*std::move(file));
  }
  return add_open(std::move(handle));
}

Status FileSystem::fsync(FileHandle& file) {
  return file.generated ? Status() : file.file()->fsync();
}

}  // namespace gridmount::fuse
