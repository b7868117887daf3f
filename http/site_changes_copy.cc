// SiteChanges: COPY and MOVE. Source: RFC 4918, 9.8 and 9.9.

#include <utility>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/namespace/name_mapping.h"
#include "http/file_content.h"
#include "http/file_upload.h"
#include "http/site_changes.h"
#include "http/site_error.h"
#include "http/site_nodes.h"
#include "http/tree_walk.h"

namespace gridmount::http {

namespace {

using gridfs::FilesDocument;

// Returns true if the request may replace the destination: the field Overwrite is T or missing.
// Fails with BadValue for a value other than T and F.
Result<bool> may_overwrite(const Request& request) {
  const std::string overwrite = request.field("Overwrite").value_or("T");
  if (equals_ignoring_case(overwrite, "T")) return true;
  if (equals_ignoring_case(overwrite, "F")) return false;
  return fail(ErrorCode::kBadValue, "Overwrite is T or F");
}

Status check_overwrite(bool may_overwrite, bool exists) {
  if (may_overwrite || !exists) return {};
  return fail(kPreconditionFailed, "the destination exists");
}

bool is_at_or_below(const std::vector<std::string>& components,
                    const std::vector<std::string>& directory) {
  return components.size() >= directory.size() &&
         std::equal(directory.begin(), directory.end(), components.begin());
}

// Fails with PermissionDenied if the two places are equal, or if one place is inside the other.
Status check_apart(const Target& from, const Target& to) {
  if (is_at_or_below(to.components, from.components)) {
    return fail(ErrorCode::kPermissionDenied, "the destination is the source, or is in it");
  }
  if (is_at_or_below(from.components, to.components)) {
    return fail(ErrorCode::kPermissionDenied, "the source is in the destination");
  }
  return {};
}

// Checks the slashes at the ends of the URLs. A file may replace a directory, so the destination
// may have the directory's slash.
Status check_slashes(const Place& source, const Target& from, const Place& destination,
                     const Target& to) {
  if (source.is_directory()) return {};
  if (from.ends_with_slash) return fail(gridfs::kNoSuchEntry, "there is no such directory");
  if (to.ends_with_slash && !destination.is_directory()) {
    return fail(kConflict, "the source is no directory");
  }
  return {};
}

Status check_copied(const FilesDocument& file) {
  if (is_regular(file)) return {};
  return fail(ErrorCode::kPermissionDenied, "a symbolic link, device or the like is not copied");
}

// Returns the error for the client: Conflict if the source was changed or removed while it was
// read, or else `error`.
Error error_of_source(Error error) {
  const bool has_changed = error.code() == gridfs::kFileChanged ||
                           error.code() == gridfs::kFileNotFound ||
                           error.code() == gridfs::kFileDeleted;
  return has_changed ? Error(kConflict, "the source was changed meanwhile") : error;
}

Reply done(bool replaced) {
  Reply reply;
  reply.status = replaced ? 204 : 201;
  if (replaced) reply.length = std::nullopt;
  return reply;
}

// Reads the files document as it is stored. Fails with FileNotFound.
Result<bson::Document> read_document(const gridfs::Bucket& bucket, engine::Store& store,
                                     bson::ValueView id) {
  GM_ASSIGN(const auto snapshot, store.snapshot());
  GM_ASSIGN(const auto document,
            bucket.files().find_one(*snapshot, gridfs::equals("_id", bson::Value(id))));
  if (!document) return gridfs::file_not_found(bucket, id);
  return bson::Document(*document);
}

}  // namespace

Status SiteChanges::check_removable(const Place& destination, const gridfs::Bucket& bucket,
                                    const LockClaim& claim) const {
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange arriving(bucket, options_.paths, claim, destination, *transaction);
  GM_TRY(arriving.begin_reading());
  GM_ASSIGN(const bool hides_file, arriving.hides_file());
  if (hides_file) return fail(kConflict, "a file and a directory have the name of the destination");
  return {};
}

Status SiteChanges::check_movable(const Request& request, const Place& source,
                                  const Place& destination, const gridfs::Bucket& bucket,
                                  const LockClaim& claim) const {
  if (source.is_directory() && !gridfs::can_be_directory(destination.path)) {
    return fail(gridfs::kInvalidName, "this cannot be the name of a directory");
  }
  GM_TRY(check_removable(destination, bucket, claim));
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange leaving(bucket, options_.paths, claim, source, *transaction);
  GM_TRY(leaving.begin_reading());
  if (source.is_directory()) {
    GM_ASSIGN(const bool is_there, leaving.is_there());
    if (!is_there) return fail(gridfs::kNoSuchEntry, "there is no such directory");
    return check_conditions(request, Validators{});
  }
  GM_ASSIGN(const std::optional<bson::Document> document, leaving.present());
  if (!document) return fail(gridfs::kNoSuchEntry, "there is no such file");
  GM_TRY(leaving.check_movable());
  GM_ASSIGN(const FilesDocument file, FilesDocument::parse(*document));
  return check_conditions(request, validators_of(file));
}

struct SiteChanges::CopiedTree {
  const Paths& from_paths;
  const std::vector<std::string>& from;
  const gridfs::Node& directory;
  const Paths& to_paths;
  const std::vector<std::string>& to;
  const LockClaim& claim;
};

Result<bool> SiteChanges::copy_file(const Paths& from_paths, bson::ValueView id, const Place& to,
                                    gridfs::PathNamespace& to_paths, const LockClaim& claim,
                                    const Check& check) const {
  GM_ASSIGN(bson::Document document, read_document(from_paths->bucket(), store_, id));
  GM_ASSIGN(const FilesDocument file, FilesDocument::parse(document));
  GM_TRY(check_copied(file));
  FileUpload upload(
      to, options_, claim, std::make_unique<gridfs::Bucket>(bucket_for(to_paths)),
      [&](const std::optional<FilesDocument>& present) { return check(validators_of(present)); });
  GM_TRY(upload.open(file.content_type, std::move(document)));
  // Fails if the file changes meanwhile.
  FileContent content(bucket_of(from_paths), file, {{"", {0, file.length}}}, "");
  for (;;) {
    GM_TRY(check_running());
    const Result<std::string_view> piece = content.next();
    if (!piece) return fail(error_of_source(piece.error()));
    if (piece->empty()) break;
    GM_TRY(upload.write({reinterpret_cast<const uint8_t*>(piece->data()), piece->size()}));
  }
  return upload.close();
}

Status SiteChanges::copy_directory(const Paths& from_paths, const gridfs::Node& from,
                                   const Place& to, gridfs::PathNamespace& to_paths,
                                   const LockClaim& claim) const {
  GM_ASSIGN(gridfs::PosixFields posix, from_paths->directory_posix(from.path));
  const gridfs::Bucket bucket = bucket_for(to_paths);
  GM_ASSIGN(const auto transaction, store_.begin());
  PlaceChange change(bucket, options_.paths, claim, to, *transaction);
  GM_TRY(change.begin(LockScope::kName));
  GM_ASSIGN(const std::optional<bson::Document> file, change.present());
  if (file) return fail(kConflict, "a file has this name");
  gridfs::PosixFields fields = change.new_directory_fields();
  posix.atime = fields.atime;
  posix.mtime = fields.mtime;
  posix.ctime = fields.ctime;
  gridfs::merge_posix_fields(fields, posix);
  GM_TRY(change.make_directory(fields));
  GM_TRY(change.touch_parent());
  return transaction->commit();
}

Status SiteChanges::copy_below(const CopiedTree& tree, TreeFailures& failures) const {
  TreeWalk walk(*tree.from_paths, tree.from, tree.directory);
  while (!failures.are_too_many()) {
    GM_TRY(check_running());
    const Result<std::optional<TreeStep>> step = walk.next();
    if (!step) {
      failures.add(tree.to, step.error());
      continue;
    }
    if (!*step) break;
    const TreeStep& copied = **step;
    const bool is_first = copied.components.size() == tree.from.size();
    if (copied.kind == TreeStep::Kind::kLeave || is_first) continue;
    std::vector<std::string> components = tree.to;
    components.insert(components.end(),
                      copied.components.begin() + static_cast<std::ptrdiff_t>(tree.from.size()),
                      copied.components.end());
    const bool is_directory = copied.kind == TreeStep::Kind::kEnter;
    const auto copy_it = [&]() -> Status {
      GM_ASSIGN(const Place place, locate(*tree.to_paths, components));
      if (is_directory) {
        return copy_directory(tree.from_paths, copied.node, place, *tree.to_paths, tree.claim);
      }
      GM_TRY(copy_file(tree.from_paths, copied.node.id, place, *tree.to_paths, tree.claim,
                       [](const auto&) { return Status(); }));
      return {};
    };
    const Status copied_it = copy_it();
    if (copied_it) continue;
    failures.add(components, copied_it.error());
    if (is_directory) walk.skip();
  }
  return {};
}

Result<Answer> SiteChanges::copy(const Request& request, const Target& from,
                                 const Paths& from_paths, const Target& to,
                                 const Paths& to_paths) const {
  GM_ASSIGN(const bool overwrites, may_overwrite(request));
  const std::string depth = request.field("Depth").value_or("infinity");
  if (depth != "0" && !equals_ignoring_case(depth, "infinity")) {
    return fail(ErrorCode::kBadValue, "the Depth of COPY is 0 or infinity");
  }
  GM_TRY(check_apart(from, to));
  GM_ASSIGN(const Place source, locate_existing(*from_paths, from.components));
  Place destination;
  GM_ASSIGN(destination, locate(*to_paths, to.components));
  GM_TRY(check_slashes(source, from, destination, to));
  const bool replaces = destination.node.has_value();
  GM_TRY(check_overwrite(overwrites, replaces));
  std::optional<FilesDocument> file;
  if (!source.is_directory()) {
    GM_ASSIGN(file, read_file(from_paths->bucket(), source.node->id));
    GM_TRY(check_copied(*file));
  } else if (!gridfs::can_be_directory(destination.path)) {
    return fail(gridfs::kInvalidName, "this cannot be the name of a directory");
  }
  GM_TRY(check_conditions(request, file ? validators_of(file) : Validators{}));
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  GM_TRY(check_locks(
      claim, *to_paths, destination,
      replaces && !destination.is_directory() ? LockScope::kContent : LockScope::kTree));
  GM_ASSIGN(const auto slot, take_tree_slot());
  TreeFailures failures;
  if (destination.is_directory() || (replaces && source.is_directory())) {
    const gridfs::Bucket bucket = bucket_for(*to_paths);
    GM_TRY(check_removable(destination, bucket, claim));
    if (destination.is_directory()) {
      GM_TRY(remove_below(to.components, *destination.node, *to_paths, bucket, claim, failures));
      if (!failures.empty()) return failures.reply();
    }
    GM_TRY(remove_place(destination, bucket, claim, [](const auto&) { return Status(); }));
    GM_ASSIGN(destination, locate(*to_paths, to.components));
  }
  if (!source.is_directory()) {
    GM_ASSIGN(const bool replaced, copy_file(from_paths, source.node->id, destination, *to_paths,
                                             claim, [&](const std::optional<Validators>& present) {
                                               return check_overwrite(overwrites,
                                                                      present.has_value());
                                             }));
    return done(replaced || replaces);
  }
  GM_TRY(copy_directory(from_paths, *source.node, destination, *to_paths, claim));
  if (depth != "0") {
    GM_TRY(copy_below({from_paths, from.components, *source.node, to_paths, to.components, claim},
                      failures));
  }
  if (!failures.empty()) return failures.reply();
  return done(replaces);
}

Result<Answer> SiteChanges::move(const Request& request, const Target& from, const Target& to,
                                 const Paths& paths) const {
  GM_ASSIGN(const bool overwrites, may_overwrite(request));
  GM_TRY(check_apart(from, to));
  GM_ASSIGN(const Place source, locate_existing(*paths, from.components));
  if (source.is_directory() &&
      !equals_ignoring_case(request.field("Depth").value_or("infinity"), "infinity")) {
    return fail(ErrorCode::kBadValue, "the Depth of MOVE is infinity");
  }
  GM_ASSIGN(const Place destination, locate(*paths, to.components));
  GM_TRY(check_slashes(source, from, destination, to));
  const bool replaces = destination.node.has_value();
  GM_TRY(check_overwrite(overwrites, replaces));
  GM_ASSIGN(const LockClaim claim, claim_of(request));
  GM_TRY(check_locks(claim, *paths, source, LockScope::kTree));
  GM_TRY(check_locks(claim, *paths, destination, LockScope::kTree));
  const gridfs::Bucket bucket = bucket_for(*paths);
  std::unique_ptr<Slot> slot;
  if (source.is_directory() || destination.is_directory()) {
    GM_ASSIGN(slot, take_tree_slot());
  }
  if (destination.is_directory()) {
    // Checks the move first, so that nothing in the destination is removed for a move that cannot
    // be made.
    GM_TRY(check_movable(request, source, destination, bucket, claim));
    TreeFailures failures;
    GM_TRY(remove_below(to.components, *destination.node, *paths, bucket, claim, failures));
    if (!failures.empty()) return failures.reply();
  }
  std::vector<bson::Value> detached;
  std::vector<std::string> locks;
  {
    GM_ASSIGN(const auto transaction, store_.begin());
    PlaceChange leaving(bucket, options_.paths, claim, source, *transaction);
    PlaceChange arriving(bucket, options_.paths, claim, destination, *transaction);
    GM_TRY(leaving.begin(LockScope::kTree));
    GM_TRY(arriving.begin(LockScope::kTree));
    locks = locks_->tokens_below(lock_path(bucket.options().name, source.path));
    std::optional<FilesDocument> file;
    if (!source.is_directory()) {
      GM_ASSIGN(const std::optional<bson::Document> document, leaving.present());
      if (!document) return fail(gridfs::kNoSuchEntry, "there is no such file");
      GM_ASSIGN(file, FilesDocument::parse(*document));
    }
    GM_TRY(check_conditions(request, file ? validators_of(file) : Validators{}));
    if (destination.is_directory()) GM_TRY(arriving.remove_directory());
    GM_ASSIGN(const std::optional<bson::Document> old, arriving.present());
    GM_TRY(check_overwrite(overwrites, old.has_value()));
    GM_TRY(arriving.remove_files(0));
    if (source.is_directory()) {
      GM_TRY(leaving.move_directory(destination.path));
    } else {
      GM_TRY(leaving.move_files(destination.path));
    }
    GM_TRY(leaving.touch_parent());
    GM_TRY(arriving.touch_parent());
    GM_TRY(transaction->commit());
    detached = arriving.take_detached();
  }
  // Locks do not move (RFC 4918, 7.6).
  locks_->remove_all(locks);
  reclaim(bucket, detached);
  return done(replaces);
}

}  // namespace gridmount::http
