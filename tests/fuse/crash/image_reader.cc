#include "tests/fuse/crash/image_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gridfs/namespace/name_mapping.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::fuse::testing {
namespace {

constexpr const char* kXattr = "user.crash";
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr uint32_t kPermissions = 07777;

std::string text_of(const gridfs::ReadResult& read) {
  std::string text;
  for (const iovec& piece : read.pieces()) {
    text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  return text;
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Result<std::string> read_all(gridfs::PathNamespace& paths, const bson::Value& id) {
  GM_ASSIGN(const std::shared_ptr<gridfs::File> file, paths.open_file(id));
  GM_ASSIGN(const gridfs::ReadResult content,
            file->read(0, static_cast<size_t>(file->length()) + 1));
  return text_of(content);
}

}  // namespace

Result<std::unique_ptr<ImageReader>> ImageReader::open(const std::filesystem::path& store,
                                                       const MountSettings& settings) {
  auto reader = std::make_unique<ImageReader>();
  reader->database_ = settings.buckets.database;
  GM_ASSIGN(reader->store_, local::testing::open_crash_store(store, false, {}));
  gridfs::BucketOptions bucket = settings.buckets.bucket;
  bucket.name = kBucket;
  gridfs::FileTableOptions files = settings.buckets.files;
  files.commit_interval = std::chrono::hours(1);
  gridfs::NamespaceOptions paths = settings.buckets.paths;
  GM_ASSIGN(reader->namespace_,
            gridfs::PathNamespace::open(*reader->store_,
                                        reader->store_->database(settings.buckets.database), bucket,
                                        paths, files));
  return reader;
}

Result<std::vector<std::string>> ImageReader::check() {
  GM_ASSIGN(std::vector<std::string> problems, local::testing::structure_problems(*store_));
  tools::Findings findings(tools::Findings::Format::kText);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_->snapshot());
  const std::shared_ptr<engine::Database> database = store_->database(database_);
  GM_ASSIGN(const std::set<std::string> buckets, tools::buckets_of(*database, *snapshot));
  for (const std::string& bucket : buckets) {
    GM_TRY(tools::check_bucket(*store_, *snapshot, database, bucket, false, findings));
  }
  if (findings.exit_status() != ExitStatus::kOk) problems.push_back("content, printed before");
  return problems;
}

Result<FoundName> ImageReader::read_name(const gridfs::Node& node) {
  FoundName found{
      .number = node.ino,
      .links = node.attributes.nlink,
      .mode = node.attributes.mode & kPermissions,
      .modified_ns = node.attributes.mtime.tv_sec * kNsPerSecond + node.attributes.mtime.tv_nsec};
  const bool is_folder = node.kind == gridfs::NodeKind::kDirectory;
  GM_ASSIGN(const gridfs::PosixFields posix,
            is_folder ? namespace_->directory_posix(node.path) : namespace_->file_posix(node.id));
  if (posix.xattrs && posix.xattrs->contains(kXattr))
    found.xattr = std::string(*posix.xattrs->find(kXattr));
  if (is_folder) {
    found.kind = FoundKind::kFolder;
  } else if (S_ISLNK(node.attributes.mode)) {
    found.kind = FoundKind::kSymlink;
    GM_ASSIGN(found.content, namespace_->readlink(node.id));
  } else {
    GM_ASSIGN(found.content, read_all(*namespace_, node.id));
  }
  return found;
}

Status ImageReader::read_folder(const std::string& folder, FoundTree& tree) {
  GM_ASSIGN(const std::unique_ptr<gridfs::DirectoryStream> listing, namespace_->list(folder));
  while (true) {
    GM_ASSIGN(const std::optional<gridfs::DirectoryEntry> entry, listing->next());
    if (!entry) return {};
    const std::string path = gridfs::join(folder, entry->name);
    GM_ASSIGN(tree[path], read_name(entry->node));
    if (entry->node.kind == gridfs::NodeKind::kDirectory) GM_TRY(read_folder(path, tree));
  }
}

Result<FoundTree> ImageReader::read() {
  FoundTree tree;
  GM_TRY(read_folder("", tree));
  return tree;
}

Status ImageReader::change(std::mt19937_64& random, FoundTree& tree) {
  const auto some_bytes = [&](size_t size) {
    return std::string(size, static_cast<char>('a' + random() % 26));
  };
  std::vector<std::string> files;
  for (const auto& [path, name] : tree) {
    if (name.kind == FoundKind::kFile) files.push_back(path);
  }
  std::shuffle(files.begin(), files.end(), random);
  files.resize(std::min<size_t>(files.size(), 3));
  for (const std::string& path : files) {
    FoundName& name = tree.at(path);
    GM_ASSIGN(const gridfs::Node node,
              namespace_->lookup(gridfs::split(path).directory, gridfs::split(path).component));
    GM_ASSIGN(const std::shared_ptr<gridfs::File> file, namespace_->open_file(node.id));
    const size_t offset = random() % (name.content.size() + 1);
    const std::string bytes = some_bytes(1 + random() % 9000);
    GM_TRY(file->write(static_cast<int64_t>(offset), bytes_of(bytes), gridfs::TimeUpdate::kNow));
    GM_TRY(random() % 2 == 0 ? file->fsync() : file->flush());
    std::string content = name.content;
    content.resize(std::max(content.size(), offset + bytes.size()));
    content.replace(offset, bytes.size(), bytes);
    const uint64_t number = name.number;
    for (auto& [other, same] : tree) {
      if (same.kind == FoundKind::kFile && same.number == number) same.content = content;
    }
  }
  const gridfs::Creator creator;
  GM_ASSIGN(const gridfs::Node made, namespace_->create_file("", "afterwards", 0600, creator));
  GM_ASSIGN(const std::shared_ptr<gridfs::File> file, namespace_->open_file(made.id));
  const std::string bytes = some_bytes(random() % 20'000);
  GM_TRY(file->write(0, bytes_of(bytes), gridfs::TimeUpdate::kNow));
  GM_TRY(file->fsync());
  tree["afterwards"] = {.kind = FoundKind::kFile, .number = made.ino, .content = bytes};
  if (files.empty()) return {};
  GM_TRY(namespace_->unlink(gridfs::split(files[0]).directory, gridfs::split(files[0]).component));
  tree.erase(files[0]);
  return {};
}

Status ImageReader::close() {
  GM_TRY(namespace_->close());
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_->snapshot());
    GM_ASSIGN(const int64_t left, namespace_->bucket().detached().count(*snapshot, bson::View()));
    if (left > 0) return fail(ErrorCode::kInternalError, "files are left in 'detached'");
  }
  namespace_.reset();
  store_.reset();
  return {};
}

}  // namespace gridmount::fuse::testing
