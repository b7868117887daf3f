#include "http/place_change.h"

#include <sys/stat.h>

#include <utility>

#include "engine/base/log.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/name_moves.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/revisions.h"
#include "http/entity_tag.h"
#include "http/site_error.h"

namespace gridmount::http {

using gridfs::FilesDocument;
using gridfs::Node;
using gridfs::NodeKind;

Result<Place> locate(gridfs::PathNamespace& paths, const std::vector<std::string>& components) {
  Place place;
  GM_ASSIGN(Node node, paths.root());
  place.directories.push_back(node);
  const size_t last = components.size() - 1;
  for (size_t i = 1; i < last; ++i) {
    auto child = paths.lookup(node.path, components[i]);
    const bool is_missing = !child && child.error().code() == gridfs::kNoSuchEntry;
    if (is_missing || (child && child->kind != NodeKind::kDirectory)) {
      return fail(kConflict, "there is no directory '" + components[i] + "'");
    }
    if (!child) return fail(std::move(child).error());
    node = *std::move(child);
    place.directories.push_back(node);
  }
  const std::string& name = components[last];
  auto found = paths.lookup(node.path, name);
  if (found) {
    place.node = *std::move(found);
    if (place.is_directory()) {
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

Result<Place> locate_existing(gridfs::PathNamespace& paths,
                              const std::vector<std::string>& components) {
  Result<Place> place = locate(paths, components);
  if (!place && place.error().code() != kConflict) return place;
  if (!place || !place->node) return fail(gridfs::kNoSuchEntry, "there is no such file");
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
  return fail(kPreconditionFailed,
              present ? "a condition of the request does not hold" : "there is no such file");
}

Status PlaceChange::check_locks(LockScope scope) const {
  return claim_.table->check(lock_path(bucket_.options().name, place_.path), scope, claim_.tokens);
}

Status PlaceChange::begin_reading() {
  GM_TRY(directories_.find_root(transaction_));
  return names_.links().start(transaction_);
}

Result<bool> PlaceChange::is_there() {
  if (!place_.is_directory()) {
    GM_ASSIGN(const auto newest, names_.newest(transaction_, place_.path));
    return newest.has_value();
  }
  GM_ASSIGN(const auto directory, directories_.find(transaction_, place_.path));
  GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
  return directory.has_value() || below.has_value();
}

Result<bool> PlaceChange::hides_file() {
  if (!place_.is_directory()) return false;
  GM_ASSIGN(const auto newest, names_.newest(transaction_, place_.path));
  return newest.has_value();
}

Status PlaceChange::begin(LockScope scope) {
  GM_TRY(check_locks(scope));
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

Status PlaceChange::touch_parent() {
  gridfs::PosixFields times;
  times.mtime = gridfs::file_time_now();
  times.ctime = times.mtime;
  GM_TRY(directories_.update(transaction_, place_.directories.back().path, times));
  return {};
}

Result<std::optional<bson::Document>> PlaceChange::present() {
  GM_ASSIGN(const auto directory, directories_.find(transaction_, place_.path));
  GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
  if (directory || below) return fail(kConflict, "a directory has this name");
  GM_ASSIGN(const auto newest, names_.newest(transaction_, place_.path));
  return newest ? std::optional(bson::Document(*newest)) : std::nullopt;
}

Status PlaceChange::check_replaceable(bson::View file) {
  if (!gridfs::is_plain_file(file)) {
    return fail(ErrorCode::kPermissionDenied, "a symbolic link, device or the like has this name");
  }
  GM_ASSIGN(const bool has_others, names_.links().has_any(transaction_, file));
  if (has_others) return fail(kConflict, "the file has further names (hard links)");
  return {};
}

Result<std::vector<bson::Document>> PlaceChange::files_behind(uint32_t kept) {
  std::vector<bson::Document> files;
  GM_ASSIGN(const auto cursor, names_.behind_newest(transaction_, place_.path, kept));
  for (;;) {
    GM_ASSIGN(const auto document, cursor->next());
    if (!document) return files;
    files.emplace_back(*document);
  }
}

Status PlaceChange::remove_files(uint32_t kept) {
  GM_ASSIGN(const std::vector<bson::Document> files, files_behind(kept));
  for (const bson::Document& file : files) {
    GM_TRY(check_replaceable(file));
    GM_ASSIGN(const bool is_removed, bucket_.remove_document(transaction_, file));
    if (!is_removed) detached_.emplace_back(file.view()["_id"]);
  }
  return {};
}

Status PlaceChange::check_movable() {
  GM_ASSIGN(const std::vector<bson::Document> files, files_behind(0));
  for (const bson::Document& file : files) GM_TRY(check_replaceable(file));
  return {};
}

Status PlaceChange::move_files(const std::string& to) {
  GM_ASSIGN(const std::vector<bson::Document> files, files_behind(0));
  for (const bson::Document& file : files) {
    GM_TRY(check_replaceable(file));
    bson::Builder update;
    update.open_document("$set").append("filename", to).close();
    GM_TRY(bucket_.files().update(transaction_,
                                  gridfs::equals("_id", bson::Value(file.view()["_id"])),
                                  std::move(update).finish()));
  }
  return {};
}

Status PlaceChange::make_directory(const gridfs::PosixFields& posix) {
  if (!gridfs::can_be_directory(place_.path)) {
    return fail(gridfs::kInvalidName, "this cannot be the name of a directory");
  }
  GM_TRY(directories_.insert(transaction_, place_.path, posix));
  return {};
}

Status PlaceChange::make_explicit(const Node& implied, const std::string& path) {
  GM_ASSIGN(const auto known, directories_.find(transaction_, path));
  if (known) return {};
  GM_TRY(directories_.insert(transaction_, path, gridfs::fields_of_implied_directory(implied),
                             implied.ino));
  return {};
}

Status PlaceChange::make_place_explicit() {
  GM_ASSIGN(const auto known, directories_.find(transaction_, place_.path));
  if (known) return {};
  GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
  if (!below) return fail(gridfs::kNoSuchEntry, "the directory was removed meanwhile");
  return make_explicit(*place_.node, place_.path);
}

Status PlaceChange::set_mtime(const timespec& mtime) {
  gridfs::PosixFields changes;
  changes.mtime = mtime;
  changes.ctime = gridfs::file_time_now();
  if (place_.is_directory()) {
    GM_TRY(make_place_explicit());
    GM_TRY(directories_.update(transaction_, place_.path, changes));
    return {};
  }
  GM_ASSIGN(const std::optional<bson::Document> file, present());
  if (!file) return fail(gridfs::kNoSuchEntry, "the file was removed meanwhile");
  GM_TRY(check_replaceable(*file));
  bson::Builder set;
  bson::Builder unset;
  gridfs::append_posix_changes(changes, "metadata.posix.", set, unset);
  GM_TRY(gridfs::update_file(bucket_.files(), transaction_, file->view()["_id"],
                             gridfs::update_of(set, unset)));
  return {};
}

Status PlaceChange::move_directory(const std::string& to) {
  if (!gridfs::can_be_directory(to)) {
    return fail(gridfs::kInvalidName, "this cannot be the name of a directory");
  }
  const std::string& from = place_.path;
  GM_TRY(make_place_explicit());
  GM_TRY(directories_.move(transaction_, from, to));
  GM_TRY(gridfs::move_filenames_below(bucket_, options_, transaction_, from, to,
                                      [this](const Node& implied, const std::string& path) {
                                        return make_explicit(implied, path);
                                      }));
  return names_.links().move_below(transaction_, from, to);
}

Status PlaceChange::remove_directory() {
  GM_ASSIGN(const bool has_directories, directories_.has_children(transaction_, place_.path));
  GM_ASSIGN(const auto below, names_.any_below(transaction_, place_.path));
  if (has_directories || below) {
    return fail(gridfs::kDirectoryNotEmpty, "the directory is not empty");
  }
  return directories_.remove(transaction_, place_.path);
}

gridfs::PosixFields PlaceChange::new_directory_fields() const {
  gridfs::PosixFields posix;
  posix.mtime = gridfs::file_time_now();
  posix.atime = posix.ctime = posix.mtime;
  posix.mode = S_IFDIR | (0777 & ~options_.umask);
  posix.uid = options_.default_owner.uid;
  posix.gid = options_.default_owner.gid;
  return posix;
}

void reclaim(const gridfs::Bucket& bucket, const std::vector<bson::Value>& files) {
  for (const bson::Value& id : files) {
    const Status reclaimed = bucket.reclaim(id);
    if (!reclaimed) log::warn("http: removing old content: {}", reclaimed.error().message());
  }
}

}  // namespace gridmount::http
