// BucketNamespace: earlier contents of files.

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/posix_place.h"
#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/id_listing.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/revisions.h"

namespace gridmount::gridfs {

using engine::Transaction;

namespace {

// Orders the documents from the oldest to the newest, with the present content last.
void order_by_age(std::vector<bson::View>& documents, bson::View present) {
  std::sort(documents.begin(), documents.end(),
            [](bson::View a, bson::View b) { return is_newer(b, a); });
  const auto found = std::find_if(documents.begin(), documents.end(), [&](bson::View document) {
    return bson::compare(document["_id"], present["_id"]) == 0;
  });
  if (found != documents.end()) std::rotate(found, found + 1, documents.end());
}

}  // namespace

Result<BucketNamespace::Found> BucketNamespace::find_revised(engine::Snapshot& snapshot,
                                                             std::string_view directory,
                                                             std::string_view name) const {
  GM_ASSIGN(Found found, find(snapshot, directory, name));
  if (found.kind == Found::Kind::kNothing) return no_such_entry(directory, name);
  if (found.is_directory()) return fail(kIsADirectory, shown(directory, name) + " is a directory");
  return found;
}

Result<std::vector<Node>> BucketNamespace::revisions(std::string_view directory,
                                                     std::string_view name) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const Found found, find_revised(*snapshot, directory, name));
  std::vector<bson::View> documents{found.document};
  if (found.has_filename()) {
    GM_ASSIGN(documents, path_index_.all(*snapshot, found.path));
  }
  order_by_age(documents, found.document);
  std::vector<Node> nodes;
  nodes.reserve(documents.size());
  for (const bson::View document : documents) nodes.push_back(node_of_file(document));
  return nodes;
}

Result<std::optional<Node>> BucketNamespace::revision(std::string_view directory,
                                                      std::string_view name, uint64_t number) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const Found found, find_revised(*snapshot, directory, name));
  std::vector<bson::View> documents{found.document};
  if (found.has_filename()) {
    GM_ASSIGN(documents, path_index_.at_position(*snapshot, found.path, number));
  }
  order_by_age(documents, found.document);
  if (number >= documents.size()) return std::optional<Node>();
  return std::optional(node_of_file(documents[number]));
}

Result<std::optional<bson::Value>> BucketNamespace::start_revision(bson::ValueView id) {
  if (options_.revisions == 0) return std::optional<bson::Value>();
  GM_TRY(begin_change());
  if (const std::shared_ptr<File> open = files_->find(id)) GM_TRY(open->flush());
  const RemovalScope removals(*files_);
  const bson::Value next(bson::ObjectId::generate());
  bson::Date date;
  {
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store_.begin());
    GM_ASSIGN(const std::optional<bson::View> old,
              bucket_.files().find_one(*transaction, equals("_id", id)));
    if (!old) return file_not_found(bucket_, id);
    if (!has_filename(*old) || !has_content(*old) || !can_be_superseded(*old)) {
      return std::optional<bson::Value>();
    }
    const std::string filename((*old)["filename"].as_string());
    GM_ASSIGN(const std::optional<bson::View> newest, path_index_.newest(*transaction, filename));
    // A file that is already an earlier revision gets no revision of its own. It does not have the
    // present content of the name.
    if (!newest || bson::compare((*newest)["_id"], id) != 0) return std::optional<bson::Value>();
    date = date_after(*old);
    GM_ASSIGN(const bson::Document document, continue_with_names(*transaction, id, next, date));
    GM_TRY(bucket_.files().insert(*transaction, document));
    GM_TRY(remove_old_revisions(*transaction, filename));
    GM_TRY(transaction->commit());
  }
  files_->after_commit();
  return std::optional(next);
}

// The old document keeps its filename, and the new document gets all other names.
Result<bson::Document> BucketNamespace::continue_with_names(Transaction& transaction,
                                                            bson::ValueView id,
                                                            const bson::Value& next,
                                                            bson::Date date) const {
  const bson::Document by_id = equals("_id", id);
  if (path_index_.links().in_use()) {
    GM_TRY(path_index_.links().load(transaction, id));
    GM_TRY(path_index_.links().transfer(transaction, id, next));
  }
  GM_ASSIGN(const std::optional<bson::View> old, bucket_.files().find_one(transaction, by_id));
  if (!old) return file_not_found(bucket_, id);
  bson::Document document = continued(*old, next, date, md5_of_nothing());
  bson::Builder set;
  bson::Builder unset;
  if (old->find("aliases")) unset.append("aliases", "");
  if (recorded_links(*old) > 0) unset.append(kRecordedLinksPath, "");
  const bson::Document update = update_of(set, unset);
  if (!update.view().empty()) GM_TRY(bucket_.files().update(transaction, by_id, update));
  return document;
}

Result<BucketNamespace::NameLoss> BucketNamespace::retire_name(Transaction& transaction,
                                                               const Found& source,
                                                               const Found& target) {
  const bson::Value source_id(source.document["_id"]);
  bson::Date date = date_after(source.document);
  GM_ASSIGN(const bool has_other_names, path_index_.links().has_any(transaction, target.document));
  if (has_other_names || !is_plain_file(target.document)) return remove_name(transaction, target);
  {
    GM_ASSIGN(const std::vector<bson::View> named,
              path_index_.first_and_last(transaction, target.path));
    for (const bson::View document : named) {
      if (!can_be_superseded(document)) return remove_name(transaction, target);
      date = std::max(date, date_after(document));
    }
  }
  NameLoss loss{bson::Document(target.document)};  // it has no other names
  // The mount must not show the time of the rename as the file's mtime, so mtime is stored first.
  bson::Builder update;
  update.open_document("$set").append("uploadDate", date);
  const Result<FilesDocument> file = FilesDocument::parse(source.document);
  if (file && !file->posix.mtime && accepts_posix_fields(source.document)) {
    PosixFields times;
    times.mtime = to_timespec(file->upload_date);
    bson::Builder unset;
    append_posix_changes(times, "metadata.posix.", update, unset);
  }
  update.close();
  if (!has_content(target.document)) {
    GM_TRY(files_->remove(transaction, bson::Value(target.document["_id"])));
  }
  GM_TRY(update_file(bucket_.files(), transaction, source_id, std::move(update).finish()));
  return loss;
}

Status BucketNamespace::remove_old_revisions(Transaction& transaction, std::string_view filename) {
  std::vector<bson::Value> old;
  {
    GM_ASSIGN(const std::optional<bson::View> newest, path_index_.newest(transaction, filename));
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              path_index_.behind_newest(transaction, filename, int64_t{options_.revisions} + 1));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      // If several files have the newest uploadDate, the index may have any of them last.
      if (newest && bson::compare((*newest)["_id"], (*document)["_id"]) == 0) continue;
      // A file with other names stays, so that these names still lead to it.
      GM_ASSIGN(const bool has_links, path_index_.links().has_any(transaction, *document));
      if (!has_links) old.emplace_back((*document)["_id"]);
    }
  }
  for (const bson::Value& id : old) GM_TRY(files_->remove(transaction, id));
  return {};
}

Result<std::unique_ptr<DirectoryStream>> BucketNamespace::list_ids() {
  return std::unique_ptr<DirectoryStream>(
      std::make_unique<IdListing>(bucket_, [this](bson::View document) -> std::optional<Node> {
        if (!path_index_.is_of_time(document)) return std::nullopt;
        return node_of_file(document);
      }));
}

}  // namespace gridmount::gridfs
