// BucketNamespace: files with several names. One of the names is the filename. When the filename is
// removed, one of the other names takes its place, so that drivers find the file as long as it has
// a name.

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/links.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::gridfs {

using engine::Transaction;

namespace {

// Writes the filename, the number of additional names, and ctime of a file whose own name has
// changed. When a directory is renamed, the times of its contents do not change.
Status write_names(const Bucket& bucket, Transaction& transaction, const LinkedFile& file) {
  bson::Builder set;
  bson::Builder unset;
  if (file.filename) set.append("filename", *file.filename);
  if (file.links > 0) {
    set.append(kRecordedLinksPath, file.links);
  } else if (file.accepts_fields) {
    unset.append(kRecordedLinksPath, "");
  }
  if (file.accepts_fields) {
    PosixFields times;
    times.ctime = file_time_now();
    append_posix_changes(times, "metadata.posix.", set, unset);
  }
  const bson::Document update = update_of(set, unset);
  if (update.view().empty()) return {};
  GM_TRY(update_file(bucket.files(), transaction, file.id, update));
  return {};
}

std::vector<bson::Value> ids_of(const std::vector<bson::View>& documents) {
  std::vector<bson::Value> ids;
  for (const bson::View document : documents) ids.emplace_back(document["_id"]);
  return ids;
}

}  // namespace

Result<Node> BucketNamespace::link(bson::ValueView id, std::string_view directory,
                                   std::string_view name) {
  {
    GM_TRY(begin_change());
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
              store_.begin(engine::TransactionKind::kShort));
    const Forgetting forgetting(*this);
    GM_ASSIGN(NewPath place, new_path_in(*transaction, directory, name));
    const bson::Document by_id = equals("_id", id);
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.files().find_one(*transaction, by_id));
    if (!document) {
      // Keeps the file alive until it is attached: its changes would go with the last reference.
      const std::shared_ptr<File> open = files_->find(id);
      GM_TRY(attach(*transaction, id, place.path));
      GM_TRY(touch(*transaction, directory, place.directory));
      GM_TRY(transaction->commit());
      files_->set_attached(id);
      return this->file(id);
    }
    if (!has_filename(*document)) {
      return fail(kInvalidName,
                  "a file without a filename cannot get additional names: rename it first");
    }
    GM_ASSIGN(std::optional<LinkedFile> file, path_index_.links().load(*transaction, id));
    if (!file) return file_not_found(bucket_, id);
    if (file->links + 1 >= kMaxLinks) {
      return fail(kTooManyLinks, "the file '" + *file->filename + "' has " +
                                     std::to_string(file->links + 1) + " names already");
    }
    GM_TRY(path_index_.links().put(*transaction, place.path, id));
    ++file->links;
    GM_TRY(write_names(bucket_, *transaction, *file));
    GM_TRY(touch(*transaction, directory, place.directory));
    GM_TRY(transaction->commit());
  }
  path_index_.links().set_made();
  return this->file(id);
}

Result<std::vector<std::string>> BucketNamespace::links_of(bson::ValueView id) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  return path_index_.links().all_of(*snapshot, id);
}

Status BucketNamespace::attach(Transaction& transaction, bson::ValueView id,
                               const std::string& path) {
  const bson::Document by_id = equals("_id", id);
  GM_ASSIGN(const std::optional<bson::View> found, bucket_.detached().find_one(transaction, by_id));
  if (!found || !files_->find(id)) return file_not_found(bucket_, id);
  const bson::Document document = without_lease(*found);
  GM_TRY(bucket_.detached().remove(transaction, by_id, false));
  GM_TRY(bucket_.files().insert(transaction, document));
  LinkedFile file;
  file.id = bson::Value(id);
  file.filename = path;
  file.accepts_fields = accepts_posix_fields(document);
  return write_names(bucket_, transaction, file);
}

RemovedName BucketNamespace::removed_name(const NameLoss& loss) const {
  RemovedName removed;
  removed.node = node_of_file(loss.document);
  removed.node.attributes.nlink = loss.names_left;
  if (const Result<FilesDocument> file = FilesDocument::parse(loss.document)) {
    removed.posix = file->posix;
  }
  return removed;
}

Result<BucketNamespace::NameLoss> BucketNamespace::remove_name(Transaction& transaction,
                                                               const Found& file) {
  NameLoss loss{bson::Document(file.document)};
  if (!file.has_filename()) {
    GM_TRY(files_->remove(transaction, *file.unnamed_id));
    return loss;
  }
  if (file.named && !path_index_.links().in_use()) {
    for (const bson::Document& named : *file.named) {
      GM_TRY(files_->remove(transaction, named.view()["_id"], &named));
    }
    return loss;
  }
  GM_ASSIGN(const std::vector<bson::View> named, path_index_.all(transaction, file.path));
  const std::vector<bson::Value> ids = ids_of(named);
  const bson::ValueView lost = loss.document.view()["_id"];
  for (const bson::Value& id : ids) {
    GM_ASSIGN(const uint32_t left, remove_name_of(transaction, file.path, id));
    if (bson::compare(id.view(), lost) == 0) loss.names_left = left;
  }
  return loss;
}

Result<uint32_t> BucketNamespace::remove_name_of(Transaction& transaction, const std::string& path,
                                                 const bson::Value& id) {
  const Links& links = path_index_.links();
  if (!links.in_use()) {
    GM_TRY(files_->remove(transaction, id));
    return 0;
  }
  GM_ASSIGN(std::optional<LinkedFile> file, links.load(transaction, id));
  if (!file) return 0;
  GM_ASSIGN(const bool was_link, remove_link(transaction, path, *file));
  if (file->filename != path) {
    if (was_link) GM_TRY(write_names(bucket_, transaction, *file));
  } else {
    GM_ASSIGN(const std::optional<std::string> other, links.any_of(transaction, id));
    if (!other) {
      GM_TRY(files_->remove(transaction, id));
      return 0;
    }
    GM_TRY(remove_link(transaction, *other, *file));
    file->filename = *other;
    GM_TRY(write_names(bucket_, transaction, *file));
  }
  return static_cast<uint32_t>(std::clamp<int64_t>(file->links, 0, kMaxLinks - 1)) + 1;
}

Result<bool> BucketNamespace::remove_link(Transaction& transaction, const std::string& name,
                                          LinkedFile& file) const {
  GM_ASSIGN(const bool taken, path_index_.links().take(transaction, name, file.id));
  if (taken && file.links > 0) --file.links;
  return taken;
}

Status BucketNamespace::move_file(Transaction& transaction, const Found& source,
                                  const std::string& to) const {
  if (!source.has_filename()) {
    bson::Builder update;
    update.open_document("$set").append("filename", to).close();
    GM_TRY(bucket_.files().update(transaction, equals("_id", *source.unnamed_id),
                                  std::move(update).finish()));
    return {};
  }
  std::vector<LinkedFile> files;
  if (source.named && !path_index_.links().in_use()) {
    for (const bson::View document : *source.named) files.push_back(LinkedFile::parse(document));
  } else {
    GM_ASSIGN(const std::vector<bson::View> named, path_index_.all(transaction, source.path));
    for (const bson::View document : named) files.push_back(LinkedFile::parse(document));
  }
  for (LinkedFile& file : files) {
    if (path_index_.links().in_use()) GM_TRY(move_link(transaction, source.path, to, file));
    if (file.filename == source.path) file.filename = to;
    GM_TRY(write_names(bucket_, transaction, file));
  }
  return {};
}

Status BucketNamespace::move_link(Transaction& transaction, const std::string& from,
                                  const std::string& to, LinkedFile& file) const {
  GM_ASSIGN(std::optional<LinkedFile> loaded, path_index_.links().load(transaction, file.id));
  if (loaded) file = *std::move(loaded);
  GM_ASSIGN(const bool was_link, path_index_.links().take(transaction, from, file.id));
  return was_link ? path_index_.links().put(transaction, to, file.id) : Status();
}

}  // namespace gridmount::gridfs
