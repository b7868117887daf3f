#include "http/file_upload.h"

#include <sys/stat.h>

#include <utility>

#include "engine/bson/builder.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/namespace/revisions.h"
#include "http/entity_tag.h"

namespace gridmount::http {

namespace {

using gridfs::FilesDocument;

constexpr uint32_t kSetIdBits = S_ISUID | S_ISGID;

// Returns the metadata of a file that gets new content: the metadata of `old` without the fields
// that describe the content. A mode loses the set-ID bits, as after a write(2).
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

}  // namespace

FileUpload::FileUpload(Place place, const WriteOptions& options, LockClaim claim,
                       std::unique_ptr<gridfs::Bucket> bucket, Check check)
    : place_(std::move(place)),
      options_(options),
      claim_(std::move(claim)),
      bucket_(std::move(bucket)),
      check_(std::move(check)) {}

Status FileUpload::open(std::optional<std::string> content_type,
                        std::optional<bson::Document> source) {
  source_ = std::move(source);
  gridfs::UploadOptions how;
  how.content_type = std::move(content_type);
  how.before_commit = [this](engine::Transaction& transaction) { return replace(transaction); };
  GM_ASSIGN(stream_, bucket_->open_upload_stream(place_.path, how));
  return {};
}

Result<bool> FileUpload::close() {
  GM_TRY(stream_->close());
  reclaim(*bucket_, detached_);
  return replaces_;
}

std::optional<std::string> FileUpload::tag() const {
  const auto stored = bucket_->open_download_stream(stream_->id(), gridfs::ByteRange{});
  return stored ? std::optional(entity_tag((*stored)->file())) : std::nullopt;
}

Result<gridfs::CommitFields> FileUpload::replace(engine::Transaction& transaction) {
  PlaceChange change(*bucket_, options_.paths, claim_, place_, transaction);
  GM_TRY(change.begin(LockScope::kContent));
  GM_ASSIGN(const std::optional<bson::Document> old, change.present());
  if (!old) GM_TRY(change.check_locks(LockScope::kName));
  std::optional<FilesDocument> file;
  gridfs::CommitFields fields;
  if (source_) fields.metadata = kept_metadata(*source_);
  if (old) {
    GM_ASSIGN(file, FilesDocument::parse(*old));
    GM_TRY(change.check_replaceable(*old));
    if (!source_) fields.metadata = kept_metadata(*old);
    fields.upload_date_min = gridfs::date_after(*old);
  }
  GM_TRY(check_(file));
  GM_TRY(change.remove_files(options_.paths.revisions));
  GM_TRY(change.touch_parent());
  detached_ = change.take_detached();
  replaces_ = old.has_value();
  return fields;
}

}  // namespace gridmount::http
