#include "http/site_changes.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/revisions.h"
#include "http/entity_tag.h"
#include "http/preconditions.h"
#include "http/site_error.h"
#include "http/site_methods.h"

namespace gridmount::http {

namespace {

using gridfs::FilesDocument;
using gridfs::Node;
using gridfs::NodeKind;

constexpr uint32_t kSetIdBits = S_ISUID | S_ISGID;

// Where a change happens.
struct Place {
  std::vector<Node> directories;  // from the root to the parent
  std::optional<Node> node;       // what has the name; unset: nothing
  std::string path;               // the filename of the file, or the path of the directory
};

// Fails with Conflict if the parent does not exist, and with InvalidName or NameTooLong if nothing
// can have the name.
Result<Place> locate(gridfs::PathNamespace& paths, const Target& target) {
  Place place;
  GM_ASSIGN(Node node, paths.root());
  place.directories.push_back(node);
  const size_t last = target.components.size() - 1;
  for (size_t i = 1; i < last; ++i) {
    auto child = paths.lookup(node.path, target.components[i]);
    const bool is_missing = !child && child.error().code() == gridfs::kNoSuchEntry;
    if (is_missing || (child && child->kind != NodeKind::kDirectory)) {
      return fail(kConflict, "there is no directory '" + target.components[i] + "'");
    }
    if (!child) return fail(std::move(child).error());
    node = *std::move(child);
    place.directories.push_back(node);
  }
  const std::string& name = target.components[last];
  auto found = paths.lookup(node.path, name);
  if (found) {
    place.node = *std::move(found);
    if (place.node->kind == NodeKind::kDirectory) {
      place.path = place.node->path;
      return place;
    }
    GM_ASSIGN(const auto stream,
              paths.bucket().open_download_stream(place.node->id, gridfs::ByteRange{}));
    if (!stream->file().filename) {
      return fail(ErrorCode::kPermissionDenied, "'" + name + "' has no filename");
    }
    place.path = *stream->file().filename;
    return place;
  }
  if (found.error().code() != gridfs::kNoSuchEntry) return fail(std::move(found).error());
  GM_ASSIGN(place.path, gridfs::path_of_new_child(node.path, name));
  return place;
}

std::optional<Validators> validators_of(const std::optional<FilesDocument>& file) {
  if (!file) return std::nullopt;
  const timespec modified =
      file->posix.mtime ? *file->posix.mtime : gridfs::to_timespec(file->upload_date);
  return Validators{entity_tag(*file), modified.tv_sec};
}

Status check_conditions(const Request& request, const std::optional<Validators>& present) {
  if (may_change(request, present)) return {};
  return fail(kPreconditionFailed, present ? "the file is another one" : "there is no such file");
}

// A change of one place, within one transaction.
class PlaceChange {
 public:
  // All arguments must outlive the object.
  PlaceChange(const gridfs::Bucket& bucket, const gridfs::NamespaceOptions& options,
              const Place& place, engine::Transaction& transaction)
      : bucket_(bucket),
        options_(options),
        place_(place),
        transaction_(transaction),
        directories_(bucket),
        names_(bucket) {}

  // Must be called first. Makes the directories above explicit. Fails with Conflict if one of them
  // is gone.
  Status begin() {
    GM_TRY(bucket_.ensure_indexes(transaction_));
    GM_TRY(directories_.make_root(transaction_, gridfs::new_root_fields(options_)));
    GM_TRY(names_.links().start(transaction_));
    for (const Node& directory : place_.directories) {
      if (directory.path.empty()) continue;
      GM_ASSIGN(const auto known, directories_.find(transaction_, directory.path));
      if (known) continue;
      if (directory.id.type() != bson::Type::kNull) {
        return fail(kConflict, "the directory was removed meanwhile");
      }
      GM_TRY(directories_.insert(transaction_, directory.path,
                                 gridfs::fields_of_implied_directory(directory), directory.ino));
    }
    return {};
  }

  // Returns the file that has the name, or nothing. Fails with Conflict if a directory has it.
  Result<std::optional<bson::Document>> present() {
    GM_ASSIGN(const auto directory, directories_.find(transaction_, place_.path));
    GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
    if (directory || below) return fail(kConflict, "a directory has this name");
    GM_ASSIGN(const auto newest, names_.newest(transaction_, place_.path));
    return newest ? std::optional(bson::Document(*newest)) : std::nullopt;
  }

  // Removes the files of the name, except for the `kept` newest. Fails with Conflict if one of them
  // has further names, and with PermissionDenied if one of them is no regular file.
  Status remove_files(uint32_t kept) {
    std::vector<bson::Document> files;
    {
      GM_ASSIGN(const auto cursor, names_.behind_newest(transaction_, place_.path, kept));
      for (;;) {
        GM_ASSIGN(const auto document, cursor->next());
        if (!document) break;
        files.emplace_back(*document);
      }
    }
    for (const bson::Document& file : files) {
      GM_TRY(check_replaceable(file));
      GM_ASSIGN(const bool is_removed, bucket_.remove_document(transaction_, file));
      if (!is_removed) detached_.emplace_back(file.view()["_id"]);
    }
    return {};
  }

  Status check_replaceable(bson::View file) {
    if (!gridfs::is_plain_file(file)) {
      return fail(ErrorCode::kPermissionDenied,
                  "a symbolic link, device or the like has this name");
    }
    GM_ASSIGN(const bool has_others, names_.links().has_any(transaction_, file));
    if (has_others) return fail(kConflict, "the file has further names (hard links)");
    return {};
  }

  // Fails with DirectoryNotEmpty.
  Status remove_directory() {
    GM_ASSIGN(const bool has_directories, directories_.has_children(transaction_, place_.path));
    GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
    if (has_directories || below) {
      return fail(gridfs::kDirectoryNotEmpty, "the directory is not empty");
    }
    return directories_.remove(transaction_, place_.path);
  }

  Status make_directory() {
    if (!gridfs::can_be_directory(place_.path)) {
      return fail(gridfs::kInvalidName, "this cannot be the name of a directory");
    }
    gridfs::PosixFields posix;
    posix.mtime = gridfs::file_time_now();
    posix.atime = posix.ctime = posix.mtime;
    posix.mode = S_IFDIR | (0777 & ~options_.umask);
    posix.uid = options_.default_owner.uid;
    posix.gid = options_.default_owner.gid;
    GM_TRY(directories_.insert(transaction_, place_.path, posix));
    return {};
  }

  // Must be called last. Sets the mtime of the parent.
  Status touch_parent() {
    gridfs::PosixFields times;
    times.mtime = gridfs::file_time_now();
    times.ctime = times.mtime;
    GM_TRY(directories_.update(transaction_, place_.directories.back().path, times));
    return {};
  }

  // The files that must be reclaimed after the commit.
  std::vector<bson::Value> take_detached() { return std::move(detached_); }

 private:
  const gridfs::Bucket& bucket_;
  const gridfs::NamespaceOptions& options_;
  const Place& place_;
  engine::Transaction& transaction_;
  gridfs::DirectoryStore directories_;
  gridfs::PathIndex names_;
  std::vector<bson::Value> detached_;
};

// Removes the chunks of files that no longer have a name. What stays after an error is removed at
// the next start of a program.
void reclaim(const gridfs::Bucket& bucket, const std::vector<bson::Value>& files) {
  for (const bson::Value& id : files) {
    const Status reclaimed = bucket.reclaim(id);
    if (!reclaimed) spdlog::warn("http: removing old content: {}", reclaimed.error().message());
  }
}

// Returns the metadata of a file whose content is replaced: everything of `old` but what describes
// its content. A mode loses the set-ID bits, as when a program writes.
bson::Document kept_metadata(bson::View old) {
  const bson::Document continued =
      gridfs::continued(old, bson::Value(bson::ObjectId::generate()), {}, std::nullopt);
  const auto metadata = continued.view().find("metadata");
  bson::Builder kept;
  if (!metadata || metadata->type() != bson::Type::kDocument) return std::move(kept).finish();
  for (const bson::Element& field : metadata->as_document()) {
    if (field.key == "contentType") continue;
    if (field.key != "posix" || field.value.type() != bson::Type::kDocument) {
      kept.append(field.key, field.value);
      continue;
    }
    gridfs::PosixFields posix = gridfs::read_posix_fields(field.value.as_document());
    posix.mtime = gridfs::file_time_now();
    posix.atime = posix.ctime = posix.mtime;
    if (posix.mode) posix.mode = *posix.mode & ~kSetIdBits;
    kept.open_document("posix");
    gridfs::append_posix_fields(kept, posix);
    kept.close();
  }
  return std::move(kept).finish();
}

// One of the uploads that may run at a time.
class UploadSlot {
 public:
  // Fails with TooManyUploads.
  static Result<std::unique_ptr<UploadSlot>> take(std::shared_ptr<std::atomic<size_t>> uploads,
                                                  size_t most) {
    if (++*uploads > most) {
      --*uploads;
      return fail(kTooManyUploads, "there are too many uploads");
    }
    return std::unique_ptr<UploadSlot>(new UploadSlot(std::move(uploads)));
  }
  ~UploadSlot() { --*uploads_; }
  UploadSlot(const UploadSlot&) = delete;
  UploadSlot& operator=(const UploadSlot&) = delete;

 private:
  explicit UploadSlot(std::shared_ptr<std::atomic<size_t>> uploads)
      : uploads_(std::move(uploads)) {}

  const std::shared_ptr<std::atomic<size_t>> uploads_;
};

// The body of a PUT, on its way into the store.
class Upload final : public BodyReceiver {
 public:
  Upload(Request request, Place place, const WriteOptions& options,
         std::unique_ptr<UploadSlot> slot, std::unique_ptr<gridfs::Bucket> bucket)
      : request_(std::move(request)),
        place_(std::move(place)),
        options_(options),
        slot_(std::move(slot)),
        bucket_(std::move(bucket)) {}

  // Must be called first.
  Status open(std::optional<std::string> content_type) {
    gridfs::UploadOptions how;
    how.content_type = std::move(content_type);
    how.before_commit = [this](engine::Transaction& transaction) { return replace(transaction); };
    GM_ASSIGN(stream_, bucket_->open_upload_stream(place_.path, how));
    return {};
  }

  std::optional<Reply> take(std::span<const uint8_t> bytes) override {
    received_ += bytes.size();
    if (options_.upload_bytes_max > 0 && received_ > options_.upload_bytes_max) {
      return refusal(413, "the server takes less", false);
    }
    const Status written = stream_->write(bytes);
    if (written) return std::nullopt;
    return refusal_of(written.error(), request_);
  }

  Reply finish() override {
    const Status closed = stream_->close();
    if (!closed) return refusal_of(closed.error(), request_);
    reclaim(*bucket_, detached_);
    Reply reply;
    reply.status = replaces_ ? 204 : 201;
    if (replaces_) reply.length = std::nullopt;
    // The document may have been replaced or removed since.
    const auto stored = bucket_->open_download_stream(stream_->id(), gridfs::ByteRange{});
    if (stored) reply.add("ETag", entity_tag((*stored)->file()));
    return reply;
  }

 private:
  // Runs in the transaction that commits the file.
  Result<gridfs::CommitFields> replace(engine::Transaction& transaction) {
    PlaceChange change(*bucket_, options_.paths, place_, transaction);
    GM_TRY(change.begin());
    GM_ASSIGN(const std::optional<bson::Document> old, change.present());
    std::optional<FilesDocument> file;
    gridfs::CommitFields fields;
    if (old) {
      GM_ASSIGN(file, FilesDocument::parse(*old));
      GM_TRY(change.check_replaceable(*old));
      fields.metadata = kept_metadata(*old);
      fields.upload_date_min = gridfs::date_after(*old);
    }
    GM_TRY(check_conditions(request_, validators_of(file)));
    GM_TRY(change.remove_files(options_.paths.revisions));
    GM_TRY(change.touch_parent());
    detached_ = change.take_detached();
    replaces_ = old.has_value();
    return fields;
  }

  const Request request_;
  const Place place_;
  const WriteOptions options_;
  const std::unique_ptr<UploadSlot> slot_;
  const std::unique_ptr<gridfs::Bucket> bucket_;
  std::unique_ptr<gridfs::UploadStream> stream_;  // ends before the bucket does
  uint64_t received_ = 0;
  bool replaces_ = false;
  std::vector<bson::Value> detached_;
};

// Returns the media type of a body, or nothing. Fails with BadValue for a type that a reply could
// not have.
Result<std::optional<std::string>> content_type_of(const Request& request) {
  constexpr size_t kBytesMax = 255;
  const auto field = request.field("Content-Type");
  if (!field || trimmed(*field).empty()) return std::optional<std::string>();
  const std::string type(trimmed(*field));
  for (const char c : type) {
    if (c < ' ' || c > '~') return fail(ErrorCode::kBadValue, "Content-Type is not ASCII");
  }
  if (type.size() > kBytesMax) return fail(ErrorCode::kBadValue, "Content-Type is too long");
  return std::optional(type);
}

}  // namespace

SiteChanges::SiteChanges(engine::Store& store, std::shared_ptr<engine::Database> database,
                         WriteOptions options)
    : store_(store), database_(std::move(database)), options_(std::move(options)) {}

gridfs::BucketOptions SiteChanges::bucket_options(const std::string& name) const {
  gridfs::BucketOptions bucket;
  bucket.name = name;
  bucket.chunk_bytes = options_.chunk_bytes;
  bucket.md5 = options_.md5;
  return bucket;
}

Result<Answer> SiteChanges::put(const Request& request, const Target& target,
                                const std::shared_ptr<gridfs::PathNamespace>& paths) const {
  // Part of a content must not become the whole (RFC 9110, 14.5).
  if (request.field("Content-Range")) {
    return fail(ErrorCode::kBadValue, "PUT replaces whole files, so it has no Content-Range");
  }
  if (const auto coding = request.field("Content-Encoding"); coding && *coding != "identity") {
    return fail(kUnsupportedContent, "files have no Content-Encoding");
  }
  // A client whose body cannot be found must not empty the file.
  if (!request.has_body && !request.body_bytes) {
    return fail(kLengthRequired, "PUT has Content-Length or the transfer coding chunked");
  }
  GM_ASSIGN(std::optional<std::string> type, content_type_of(request));
  GM_ASSIGN(Place place, locate(*paths, target));
  std::optional<FilesDocument> present;
  if (place.node) {
    if (place.node->kind == NodeKind::kDirectory) {
      return not_allowed(request, "a directory has this name", std::string(kMethodsOfDirectories));
    }
    if (target.ends_with_slash) return fail(kConflict, "a file has this name");
    if (!S_ISREG(place.node->attributes.mode)) {
      return fail(ErrorCode::kPermissionDenied,
                  "a symbolic link, device or the like has this name");
    }
    if (place.node->attributes.nlink > 1) {
      return fail(kConflict, "the file has further names (hard links)");
    }
    GM_ASSIGN(const auto stream,
              paths->bucket().open_download_stream(place.node->id, gridfs::ByteRange{}));
    present = stream->file();
  } else if (target.ends_with_slash) {
    return fail(kConflict, "a directory is made by MKCOL");
  }
  // Also checked by the commit. Checked here, so that a body is not sent in vain.
  GM_TRY(check_conditions(request, validators_of(present)));
  const uint64_t most = options_.upload_bytes_max;
  if ((most > 0 && request.body_bytes.value_or(0) > most) ||
      request.body_bytes.value_or(0) >
          static_cast<uint64_t>(gridfs::max_file_bytes(options_.chunk_bytes))) {
    return fail(gridfs::kFileTooLarge, "the file is too large");
  }
  GM_ASSIGN(auto slot, UploadSlot::take(uploads_, options_.uploads_max));
  auto bucket = std::make_unique<gridfs::Bucket>(store_, database_,
                                                 bucket_options(paths->bucket().options().name));
  auto upload = std::make_unique<Upload>(request, std::move(place), options_, std::move(slot),
                                         std::move(bucket));
  GM_TRY(upload->open(std::move(type)));
  return Answer(std::unique_ptr<BodyReceiver>(std::move(upload)));
}

Result<Answer> SiteChanges::remove(const Request& request, const Target& target,
                                   const std::shared_ptr<gridfs::PathNamespace>& paths) const {
  const Result<Place> located = locate(*paths, target);
  if (!located && located.error().code() != kConflict) return fail(located.error());
  if (!located || !located->node) return fail(gridfs::kNoSuchEntry, "there is no such file");
  const Place& place = *located;
  const bool is_directory = place.node->kind == NodeKind::kDirectory;
  if (!is_directory && target.ends_with_slash) {
    return fail(gridfs::kNoSuchEntry, "there is no such directory");
  }
  const gridfs::Bucket bucket(store_, database_, bucket_options(paths->bucket().options().name));
  std::vector<bson::Value> detached;
  {
    GM_ASSIGN(const auto transaction, store_.begin());
    PlaceChange change(bucket, options_.paths, place, *transaction);
    GM_TRY(change.begin());
    if (is_directory) {
      GM_TRY(check_conditions(request, Validators{}));
      GM_TRY(change.remove_directory());
    } else {
      GM_ASSIGN(const std::optional<bson::Document> file, change.present());
      if (!file) return fail(gridfs::kNoSuchEntry, "there is no such file");
      GM_TRY(change.check_replaceable(*file));
      GM_ASSIGN(const FilesDocument parsed, FilesDocument::parse(*file));
      GM_TRY(check_conditions(request, validators_of(parsed)));
      GM_TRY(change.remove_files(0));
    }
    GM_TRY(change.touch_parent());
    GM_TRY(transaction->commit());
    detached = change.take_detached();
  }
  reclaim(bucket, detached);
  Reply reply;
  reply.status = 204;
  reply.length = std::nullopt;
  return reply;
}

Result<Answer> SiteChanges::make_directory(
    const Request& request, const Target& target,
    const std::shared_ptr<gridfs::PathNamespace>& paths) const {
  if (request.has_body) return fail(kUnsupportedContent, "MKCOL has no body here");
  GM_ASSIGN(const Place place, locate(*paths, target));
  if (place.node) {
    const bool is_directory = place.node->kind == NodeKind::kDirectory;
    return not_allowed(request, "the name is taken",
                       std::string(is_directory ? kMethodsOfDirectories : kMethodsOfFiles));
  }
  GM_TRY(check_conditions(request, std::nullopt));
  const gridfs::Bucket bucket(store_, database_, bucket_options(paths->bucket().options().name));
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange change(bucket, options_.paths, place, *transaction);
  GM_TRY(change.begin());
  GM_ASSIGN(const std::optional<bson::Document> file, change.present());
  if (file) return fail(kConflict, "a file has this name");
  GM_TRY(change.make_directory());
  GM_TRY(change.touch_parent());
  GM_TRY(transaction->commit());
  Reply reply;
  reply.status = 201;
  return reply;
}

}  // namespace gridmount::http
