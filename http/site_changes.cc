// SiteChanges: PUT, DELETE and MKCOL.
#include "http/site_changes.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "http/file_upload.h"
#include "http/place_change.h"
#include "http/preconditions.h"
#include "http/site_error.h"
#include "http/site_methods.h"
#include "http/site_nodes.h"
#include "http/tree_walk.h"

namespace gridmount::http {

namespace {

using gridfs::FilesDocument;

// Receives the body of a PUT and writes it into the store.
class Upload final : public BodyReceiver {
 public:
  Upload(Request request, Place place, const WriteOptions& options, LockClaim claim,
         std::unique_ptr<Slot> slot, std::unique_ptr<gridfs::Bucket> bucket)
      : request_(std::move(request)),
        upload_bytes_max_(options.upload_bytes_max),
        slot_(std::move(slot)),
        upload_(std::move(place), options, std::move(claim), std::move(bucket),
                [this](const std::optional<FilesDocument>& present) {
                  return check_conditions(request_, validators_of(present));
                }) {}

  // Must be called first.
  Status open(std::optional<std::string> content_type) {
    return upload_.open(std::move(content_type));
  }

  std::optional<Reply> take(std::span<const uint8_t> bytes) override {
    received_ += bytes.size();
    if (upload_bytes_max_ > 0 && received_ > upload_bytes_max_) {
      return refusal(413, "the server takes less", false);
    }
    const Status written = upload_.write(bytes);
    if (written) return std::nullopt;
    return refusal_of(written.error(), request_);
  }

  Reply finish() override {
    const Result<bool> replaces = upload_.close();
    if (!replaces) return refusal_of(replaces.error(), request_);
    Reply reply;
    reply.status = *replaces ? 204 : 201;
    if (*replaces) reply.length = std::nullopt;
    if (const auto tag = upload_.tag()) reply.add("ETag", *tag);
    return reply;
  }

 private:
  const Request request_;
  const uint64_t upload_bytes_max_;
  const std::unique_ptr<Slot> slot_;
  FileUpload upload_;
  uint64_t received_ = 0;
};

// Returns the media type of the body, or nothing if the request names none. Fails with BadValue for
// a type that cannot be the value of a field in a reply.
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
                         const WriteOptions& options)
    : store_(store), database_(std::move(database)), options_(options) {}

gridfs::Bucket SiteChanges::bucket_for(gridfs::PathNamespace& paths) const {
  gridfs::BucketOptions bucket;
  bucket.name = paths.bucket().options().name;
  bucket.chunk_bytes = options_.chunk_bytes;
  bucket.md5 = options_.md5;
  return {store_, database_, bucket};
}

Status SiteChanges::check_running() const {
  if (*is_stopping_) return fail(kTooManyRequests, "the server ends");
  return {};
}

Result<Answer> SiteChanges::put(const Request& request, const Target& target,
                                const Paths& paths) const {
  // A part of a file must not replace the whole file (RFC 9110, 14.5).
  if (request.field("Content-Range")) {
    return fail(ErrorCode::kBadValue, "PUT replaces whole files, so it has no Content-Range");
  }
  if (const auto coding = request.field("Content-Encoding"); coding && *coding != "identity") {
    return fail(kUnsupportedContent, "files have no Content-Encoding");
  }
  // A request without Content-Length and without chunks has no body for the server, although the
  // client may mean one. It must not empty the file.
  if (!request.has_body && !request.body_bytes) {
    return fail(kLengthRequired, "PUT has Content-Length or the transfer coding chunked");
  }
  GM_ASSIGN(std::optional<std::string> type, content_type_of(request));
  GM_ASSIGN(Place place, locate(*paths, target.components));
  std::optional<FilesDocument> present;
  if (place.node) {
    if (place.is_directory()) {
      return not_allowed(request, "a directory has this name", std::string(kMethodsOfDirectories));
    }
    if (target.ends_with_slash) return fail(kConflict, "a file has this name");
    if (!is_regular(place.node->attributes.mode)) {
      return fail(ErrorCode::kPermissionDenied,
                  "a symbolic link, device or the like has this name");
    }
    if (place.node->attributes.nlink > 1) {
      return fail(kConflict, "the file has further names (hard links)");
    }
    GM_ASSIGN(present, read_file(paths->bucket(), place.node->id));
  } else if (target.ends_with_slash) {
    return fail(kConflict, "a directory is made by MKCOL");
  }
  // The commit checks the conditions and locks again. This check saves the client from sending a
  // body in vain.
  GM_TRY(check_conditions(request, validators_of(present)));
  GM_ASSIGN(LockClaim claim, claim_of(request));
  GM_TRY(check_locks(claim, *paths, place, present ? LockScope::kContent : LockScope::kName));
  const uint64_t most = options_.upload_bytes_max;
  if ((most > 0 && request.body_bytes.value_or(0) > most) ||
      request.body_bytes.value_or(0) >
          static_cast<uint64_t>(gridfs::max_file_bytes(options_.chunk_bytes))) {
    return fail(gridfs::kFileTooLarge, "the file is too large");
  }
  GM_ASSIGN(auto slot, Slot::take(uploads_, options_.uploads_max, "uploads"));
  auto upload = std::make_unique<Upload>(request, std::move(place), options_, std::move(claim),
                                         std::move(slot),
                                         std::make_unique<gridfs::Bucket>(bucket_for(*paths)));
  GM_TRY(upload->open(std::move(type)));
  return Answer(std::unique_ptr<BodyReceiver>(std::move(upload)));
}

Status SiteChanges::remove_place(const Place& place, const gridfs::Bucket& bucket,
                                 const LockClaim& claim, const Check& check) const {
  std::vector<bson::Value> detached;
  std::vector<std::string> locks;
  {
    GM_ASSIGN(const auto transaction, store_.begin());
    PlaceChange change(bucket, options_.paths, claim, place, *transaction);
    GM_TRY(change.begin(LockScope::kTree));
    locks = locks_->tokens_below(lock_path(bucket.options().name, place.path));
    if (place.is_directory()) {
      GM_TRY(check(Validators{}));
      GM_TRY(change.remove_directory());
    } else {
      GM_ASSIGN(const std::optional<bson::Document> file, change.present());
      if (!file) return fail(gridfs::kNoSuchEntry, "there is no such file");
      GM_TRY(change.check_replaceable(*file));
      GM_ASSIGN(const FilesDocument parsed, FilesDocument::parse(*file));
      GM_TRY(check(validators_of(parsed)));
      GM_TRY(change.remove_files(0));
    }
    GM_TRY(change.touch_parent());
    GM_TRY(transaction->commit());
    detached = change.take_detached();
  }
  // Removes the locks that existed before the commit, but no lock that was added since.
  locks_->remove_all(locks);
  reclaim(bucket, detached);
  return {};
}

Status SiteChanges::remove_below(const std::vector<std::string>& components,
                                 const gridfs::Node& directory, gridfs::PathNamespace& paths,
                                 const gridfs::Bucket& bucket, const LockClaim& claim,
                                 TreeFailures& failures) const {
  TreeWalk walk(paths, components, directory);
  while (!failures.are_too_many()) {
    GM_TRY(check_running());
    const Result<std::optional<TreeStep>> step = walk.next();
    if (!step) {
      failures.add(components, step.error());
      continue;
    }
    if (!*step) break;
    const bool is_first = (*step)->components.size() == components.size();
    if ((*step)->kind == TreeStep::Kind::kEnter || is_first) continue;
    const Result<Place> place = locate_existing(paths, (*step)->components);
    const Status removed =
        place ? remove_place(*place, bucket, claim, [](const auto&) { return Status(); })
              : Status(fail(place.error()));
    // It is not a failure if somebody else has removed the file. A directory that is not empty is
    // no failure of its own after other failures, because the files that could not be removed may
    // be in the directory.
    if (!removed && removed.error().code() != gridfs::kNoSuchEntry &&
        (removed.error().code() != gridfs::kDirectoryNotEmpty || failures.empty())) {
      failures.add((*step)->components, removed.error());
    }
  }
  return {};
}

Result<Answer> SiteChanges::remove(const Request& request, const Target& target,
                                   const Paths& paths) const {
  GM_ASSIGN(const Place place, locate_existing(*paths, target.components));
  if (!place.is_directory() && target.ends_with_slash) {
    return fail(gridfs::kNoSuchEntry, "there is no such directory");
  }
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  // Checked first, so that nothing is removed if something is locked.
  GM_TRY(check_locks(claim, *paths, place, LockScope::kTree));
  const gridfs::Bucket bucket = bucket_for(*paths);
  std::unique_ptr<Slot> slot;
  if (place.is_directory()) {
    if (!equals_ignoring_case(request.field("Depth").value_or("infinity"), "infinity")) {
      return fail(ErrorCode::kBadValue, "a directory is removed with what is in it");
    }
    GM_TRY(check_conditions(request, Validators{}));
    GM_ASSIGN(slot, take_tree_slot());
    TreeFailures failures;
    GM_TRY(remove_below(target.components, *place.node, *paths, bucket, claim, failures));
    if (!failures.empty()) return failures.reply();
  }
  GM_TRY(remove_place(place, bucket, claim, [&](const std::optional<Validators>& present) {
    return check_conditions(request, present);
  }));
  Reply reply;
  reply.status = 204;
  reply.length = std::nullopt;
  return reply;
}

Result<Answer> SiteChanges::make_directory(const Request& request, const Target& target,
                                           const Paths& paths) const {
  if (request.has_body) return fail(kUnsupportedContent, "MKCOL has no body here");
  GM_ASSIGN(const Place place, locate(*paths, target.components));
  if (place.node) {
    return not_allowed(request, "the name is taken",
                       std::string(place.is_directory() ? kMethodsOfDirectories : kMethodsOfFiles));
  }
  GM_TRY(check_conditions(request, std::nullopt));
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  const gridfs::Bucket bucket = bucket_for(*paths);
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange change(bucket, options_.paths, claim, place, *transaction);
  GM_TRY(change.begin(LockScope::kName));
  GM_ASSIGN(const std::optional<bson::Document> file, change.present());
  if (file) return fail(kConflict, "a file has this name");
  GM_TRY(change.make_directory(change.new_directory_fields()));
  GM_TRY(change.touch_parent());
  GM_TRY(transaction->commit());
  Reply reply;
  reply.status = 201;
  return reply;
}

}  // namespace gridmount::http
