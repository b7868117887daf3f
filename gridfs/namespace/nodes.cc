#include "gridfs/namespace/nodes.h"

#include <sys/stat.h>

#include <algorithm>

#include "engine/bson/compare.h"
#include "gridfs/bucket/file_time.h"

namespace gridmount::gridfs {
namespace {

constexpr int64_t kStatBlockBytes = 512;

// FNV-1a
class Hash {
 public:
  Hash& add(std::string_view bytes) {
    for (const char byte : bytes) add(static_cast<uint8_t>(byte));
    return *this;
  }
  Hash& add(uint8_t byte) {
    value_ = (value_ ^ byte) * 0x100000001B3U;
    return *this;
  }
  uint64_t number() const { return (value_ >> 1) | 2; }

 private:
  uint64_t value_ = 0xCBF29CE484222325U;
};

enum HashedKind : uint8_t { kHashedFile = 1, kHashedDirectory = 2, kHashedPath = 3 };

Hash begin_hash(std::string_view bucket, HashedKind kind) {
  Hash hash;
  hash.add(bucket).add(uint8_t{0}).add(kind);
  return hash;
}

uint64_t number_of(std::string_view bucket, HashedKind kind, bson::ValueView id) {
  Hash hash = begin_hash(bucket, kind);
  hash.add(static_cast<uint8_t>(id.type()));
  hash.add({reinterpret_cast<const char*>(id.data()), id.size()});
  return hash.number();
}

void set_times(Attributes& attributes, const PosixFields& posix, const timespec& otherwise) {
  attributes.mtime = posix.mtime.value_or(otherwise);
  attributes.ctime = posix.ctime.value_or(otherwise);
  attributes.atime = posix.atime.value_or(attributes.mtime);
}

void set_owner(Attributes& attributes, const PosixFields& posix, const NamespaceOptions& options) {
  attributes.uid = posix.uid.value_or(options.default_owner.uid);
  attributes.gid = posix.gid.value_or(options.default_owner.gid);
}

}  // namespace

uint32_t mode_of_file(uint32_t mode, bool is_symlink) {
  const uint32_t permissions = mode & 07777;
  switch (mode & ~uint32_t{07777}) {
    case S_IFREG:
    case S_IFLNK:
    case S_IFIFO:
    case S_IFSOCK:
    case S_IFCHR:
    case S_IFBLK:
      return mode;
    default:
      return permissions | static_cast<uint32_t>(is_symlink ? S_IFLNK : S_IFREG);
  }
}

uint64_t file_ino(std::string_view bucket, bson::ValueView id) {
  return number_of(bucket, kHashedFile, id);
}

int64_t blocks_of(const FilesDocument& file) {
  const auto of_bytes = [](int64_t bytes) {
    return bytes / kStatBlockBytes + (bytes % kStatBlockBytes != 0 ? 1 : 0);
  };
  // The files document holds the target, as other file systems keep short targets in the inode.
  if (file.posix.symlink_target) return 0;
  // If nobody has counted the chunks of a sparse file, the allocated ranges do not count, because
  // stored chunks may lie in them.
  if (file.sparse && !file.stored_chunks) return of_bytes(file.length);
  int64_t stored = file.length;
  if (file.sparse) {
    stored = std::min(std::min(*file.stored_chunks, file.chunk_count()) * file.chunk_bytes, stored);
  }
  // A file that is not empty never has 0 blocks. tar(1) would take it for a file without data,
  // while the kernel writes to a mapping back later and may still show the attributes from before.
  const int64_t least = std::min<int64_t>(file.length, 1);
  return of_bytes(std::max(stored + file.allocated.bytes(), least));
}

Node file_node(std::string_view bucket, const FilesDocument& file,
               const NamespaceOptions& options) {
  Node node;
  node.kind = NodeKind::kFile;
  node.id = file.id;
  node.ino = file_ino(bucket, file.id);
  Attributes& attributes = node.attributes;
  const PosixFields& posix = file.posix;
  attributes.mode = posix.mode.value_or(0666 & ~options.umask);
  attributes.mode = mode_of_file(attributes.mode, posix.symlink_target.has_value());
  set_owner(attributes, posix, options);
  set_times(attributes, posix, to_timespec(file.upload_date));
  attributes.size =
      posix.symlink_target ? static_cast<int64_t>(posix.symlink_target->size()) : file.length;
  attributes.blocks = blocks_of(file);
  attributes.rdev = posix.rdev.value_or(0);
  node.has_xattrs = posix.xattrs.has_value();
  return node;
}

Node file_node(std::string_view bucket, bson::View document, const NamespaceOptions& options) {
  if (const Result<FilesDocument> file = FilesDocument::parse(document)) {
    return file_node(bucket, *file, options);
  }
  FilesDocument unreadable;
  unreadable.id = bson::Value(document["_id"]);
  unreadable.posix.mode = S_IFREG | 0444;
  return file_node(bucket, unreadable, options);
}

Node file_node(std::string_view bucket, FileTable& open_files, const Links& links,
               bson::View document, const NamespaceOptions& options) {
  const std::shared_ptr<File> open = open_files.find(document["_id"]);
  Node node =
      open ? file_node(bucket, open->document(), options) : file_node(bucket, document, options);
  // An open file does not learn of extended attributes that somebody else has set.
  if (open && !node.has_xattrs) node.has_xattrs = file_node(bucket, document, options).has_xattrs;
  node.attributes.nlink = links.nlink(document);
  return node;
}

Node directory_node(std::string_view bucket, std::string_view path,
                    const DirectoryDocument& directory, const NamespaceOptions& options) {
  Node node;
  node.kind = NodeKind::kDirectory;
  node.id = directory.id;
  node.path = path;
  node.ino = directory.ino ? *directory.ino : number_of(bucket, kHashedDirectory, directory.id);
  Attributes& attributes = node.attributes;
  attributes.mode = S_IFDIR | (directory.posix.mode.value_or(0777 & ~options.umask) & 07777);
  set_owner(attributes, directory.posix, options);
  timespec made{};
  if (directory.id.type() == bson::Type::kObjectId) {
    made.tv_sec = static_cast<time_t>(directory.id.view().as_object_id().seconds());
  }
  set_times(attributes, directory.posix, made);
  node.has_xattrs = directory.posix.xattrs.has_value();
  return node;
}

Node implied_directory_node(std::string_view bucket, std::string_view path, bson::View some_file,
                            const NamespaceOptions& options) {
  Node node;
  node.kind = NodeKind::kDirectory;
  node.path = path;
  Hash hash = begin_hash(bucket, kHashedPath);
  node.ino = hash.add(path).number();
  node.attributes.mode = S_IFDIR | (0777 & ~options.umask);
  set_owner(node.attributes, {}, options);
  const std::optional<bson::ValueView> date = some_file.find("uploadDate");
  const bool dated = date && date->type() == bson::Type::kDate;
  set_times(node.attributes, {}, to_timespec(dated ? date->as_date() : bson::Date{}));
  return node;
}

PosixFields fields_of_implied_directory(const Node& directory) {
  PosixFields posix;
  posix.mode = directory.attributes.mode;
  posix.uid = directory.attributes.uid;
  posix.gid = directory.attributes.gid;
  posix.atime = directory.attributes.atime;
  posix.mtime = directory.attributes.mtime;
  posix.ctime = directory.attributes.ctime;
  return posix;
}

PosixFields new_root_fields(const NamespaceOptions& options) {
  PosixFields posix;
  posix.mode = S_IFDIR | (0777 & ~options.umask);
  posix.uid = options.default_owner.uid;
  posix.gid = options.default_owner.gid;
  posix.mtime = file_time_now();
  posix.atime = posix.ctime = posix.mtime;
  return posix;
}

}  // namespace gridmount::gridfs
