#include "gridfs/bucket/bucket.h"

#include <algorithm>
#include <array>

#include "engine/base/thread_safety.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/download_stream.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/bucket/upload_stream.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kFilesSuffix = ".files";

bson::Document ascending(std::initializer_list<std::string_view> fields) {
  bson::Builder builder;
  for (const std::string_view field : fields) builder.append(field, int32_t{1});
  return std::move(builder).finish();
}

Status ensure_index(engine::Transaction& transaction, engine::Collection& collection,
                    bson::Document keys, bool unique) {
  GM_ASSIGN(const std::vector<engine::IndexDefinition> existing, collection.indexes(transaction));
  for (const engine::IndexDefinition& index : existing) {
    if (bson::compare(index.keys.view(), keys.view()) == 0) return {};
  }
  engine::IndexDefinition definition;
  definition.keys = std::move(keys);
  definition.unique = unique;
  return collection.create_index(transaction, definition);
}

// The files are not read in the transaction, because a deployment does not create indexes in a
// transaction that has used the collection (engine/mongo/mongo_store.h, M3).
Status ensure_indexes_if_empty(const Bucket& bucket) {
  {
    engine::FindOptions any;
    any.partial = true;
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket.store().snapshot());
    GM_ASSIGN(const std::optional<bson::View> file,
              bucket.files().find_one(*snapshot, bson::View(), any));
    if (file) return {};
  }
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket.store().begin());
  GM_TRY(bucket.ensure_indexes(*transaction));
  return transaction->commit();
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

}  // namespace

struct Bucket::IndexCheck {
  Mutex mutex{LockUse::kHeldOverReads};
  bool done GM_GUARDED_BY(mutex) = false;
};

Bucket::Bucket(engine::Store& store, std::shared_ptr<engine::Database> database,
               BucketOptions options)
    : store_(store),
      database_(std::move(database)),
      options_(std::move(options)),
      files_(database_->collection(options_.name + std::string(kFilesSuffix))),
      chunks_(database_->collection(options_.name + ".chunks")),
      directories_(database_->collection(options_.name + ".directories")),
      detached_(database_->collection(options_.name + ".detached")),
      links_(database_->collection(options_.name + ".links")),
      index_check_(std::make_shared<IndexCheck>()) {}

Status Bucket::ensure_indexes(engine::Transaction& transaction) const {
  GM_TRY(ensure_index(transaction, *files_, ascending({"filename", "uploadDate"}), false));
  GM_TRY(ensure_index(transaction, *chunks_, ascending({"files_id", "n"}), true));
  return ensure_index(transaction, *directories_, ascending({"parent", "name"}), true);
}

Status Bucket::ensure_links(engine::Transaction& transaction) const {
  return ensure_index(transaction, *links_, ascending({"file"}), false);
}

Result<std::unique_ptr<UploadStream>> Bucket::open_upload_stream(
    std::string_view filename, const UploadOptions& options) const {
  const int32_t chunk_bytes = options.chunk_bytes.value_or(options_.chunk_bytes);
  if (chunk_bytes < 1 || chunk_bytes > kMaxChunkBytes) {
    return fail(ErrorCode::kBadValue, "uploading " + in_quotes(filename) + ": a chunkSize of " +
                                          std::to_string(chunk_bytes) +
                                          " bytes is not between 1 and " +
                                          std::to_string(kMaxChunkBytes));
  }
  {
    // The lock is held over the transaction, so that no other stream writes before the indexes
    // exist. A thread that has a transaction never waits for this lock.
    MutexLock lock(index_check_->mutex);
    if (!index_check_->done) {
      GM_TRY(with_retry(store_, [&] { return ensure_indexes_if_empty(*this); }));
      index_check_->done = true;
    }
  }
  return make_upload_stream(*this, filename, options, chunk_bytes);
}

Result<FilesDocument> Bucket::find_file(engine::Snapshot& snapshot, bson::ValueView id) const {
  GM_ASSIGN(const std::optional<bson::View> document,
            files_->find_one(snapshot, equals("_id", id)));
  if (!document) return file_not_found(*this, id);
  return FilesDocument::parse(*document);
}

Result<std::unique_ptr<DownloadStream>> Bucket::open_download_stream(
    bson::ValueView id, std::optional<ByteRange> range) const {
  GM_ASSIGN(std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(FilesDocument file, find_file(*snapshot, id));
  return make_download_stream(*this, std::move(snapshot), std::move(file), range);
}

Result<std::unique_ptr<DownloadStream>> Bucket::open_download_stream_by_name(
    std::string_view filename, int revision, std::optional<ByteRange> range) const {
  GM_ASSIGN(std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  const bson::Document filter = equals("filename", bson::Value(filename));
  bson::Builder sort;
  sort.append("uploadDate", int32_t{revision >= 0 ? 1 : -1});
  const bson::Document order = std::move(sort).finish();
  engine::FindOptions options;
  options.sort = order;
  options.skip = revision >= 0 ? int64_t{revision} : -int64_t{revision} - 1;
  GM_ASSIGN(const std::optional<bson::View> document, files_->find_one(*snapshot, filter, options));
  if (!document) {
    GM_ASSIGN(const std::optional<bson::View> any, files_->find_one(*snapshot, filter));
    if (any) {
      return fail(kRevisionNotFound, "bucket " + in_quotes(options_.name) + ": the file " +
                                         in_quotes(filename) + " has no revision " +
                                         std::to_string(revision));
    }
    return fail(kFileNotFound,
                "bucket " + in_quotes(options_.name) + ": no file is named " + in_quotes(filename));
  }
  GM_ASSIGN(FilesDocument file, FilesDocument::parse(*document));
  return make_download_stream(*this, std::move(snapshot), std::move(file), range);
}

Status Bucket::expect_file(engine::Snapshot& snapshot, bson::ValueView id) const {
  const bson::Document by_id = equals("_id", id);
  for (engine::Collection* const collection : {files_.get(), detached_.get()}) {
    GM_ASSIGN(const std::optional<bson::View> document, collection->find_one(snapshot, by_id));
    if (document) return {};
  }
  return fail(file_deleted(*this, id));
}

Result<std::unique_ptr<engine::Cursor>> Bucket::find(engine::Snapshot& snapshot, bson::View filter,
                                                     const engine::FindOptions& options) const {
  return files_->find(snapshot, filter, options);
}

Status Bucket::rename(bson::ValueView id, std::string_view new_filename) const {
  bson::Builder update;
  update.open_document("$set").append("filename", new_filename).close();
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  GM_ASSIGN(const engine::UpdateResult result,
            files_->update(*transaction, equals("_id", id), std::move(update).finish()));
  if (result.matched == 0) return file_not_found(*this, id);
  return transaction->commit();
}

Status Bucket::rename_by_name(std::string_view filename, std::string_view new_filename) const {
  bson::Builder update;
  update.open_document("$set").append("filename", new_filename).close();
  engine::UpdateOptions all;
  all.multi = true;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  GM_ASSIGN(const engine::UpdateResult result,
            files_->update(*transaction, equals("filename", bson::Value(filename)),
                           std::move(update).finish(), all));
  if (result.matched == 0) {
    return fail(kFileNotFound,
                "bucket " + in_quotes(options_.name) + ": no file is named " + in_quotes(filename));
  }
  return transaction->commit();
}

Status Bucket::drop() const {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  return drop_in(*transaction);
}

Status Bucket::drop_if_empty() const {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  GM_TRY(expect_empty(*transaction));
  return drop_in(*transaction);
}

Status Bucket::expect_empty(engine::Transaction& transaction) const {
  if (store_.capabilities().transactional_catalog) return expect_empty_in(transaction);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.short_snapshot());
  return expect_empty_in(*snapshot);
}

Status Bucket::expect_empty_in(engine::Snapshot& snapshot) const {
  // Only the root's document has no parent.
  bson::Builder below_root;
  below_root.open_document("parent").append("$ne", bson::Value()).close();
  const bson::Document directory = std::move(below_root).finish();
  const std::pair<engine::Collection*, bson::View> contents[] = {
      {files_.get(), bson::View()}, {directories_.get(), directory}, {links_.get(), bson::View()}};
  for (const auto& [collection, filter] : contents) {
    GM_ASSIGN(const std::optional<bson::View> found, collection->find_one(snapshot, filter));
    if (!found) continue;
    return fail(kBucketNotEmpty, "bucket " + in_quotes(options_.name) + ": " +
                                     collection->ns().full() + " still has a document with _id " +
                                     bson::to_json((*found)["_id"], bson::JsonForm::kRelaxed));
  }
  return {};
}

Status Bucket::drop_in(engine::Transaction& transaction) const {
  for (const engine::Collection* collection :
       {files_.get(), chunks_.get(), directories_.get(), detached_.get(), links_.get()}) {
    Status dropped = database_->drop(transaction, collection->ns().collection);
    if (!dropped && dropped.error().code() != ErrorCode::kNamespaceNotFound) return dropped;
  }
  GM_TRY(transaction.commit());
  MutexLock lock(index_check_->mutex);
  index_check_->done = false;
  return {};
}

Result<std::vector<std::string>> bucket_names(engine::Database& database,
                                              engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::vector<engine::CollectionInfo> collections, database.collections(snapshot));
  std::vector<std::string> names;
  for (const engine::CollectionInfo& collection : collections) {
    const std::string_view name = collection.name;
    if (name.size() <= kFilesSuffix.size() || !name.ends_with(kFilesSuffix)) continue;
    names.emplace_back(name.substr(0, name.size() - kFilesSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error file_changed(const Bucket& bucket, bson::ValueView id) {
  return Error(kFileChanged,
               "bucket " + in_quotes(bucket.options().name) +
                   ": the content of the file with _id " +
                   bson::to_json(id, bson::JsonForm::kRelaxed) +
                   " was changed by another process while this one was writing it; what this one "
                   "had not committed is lost");
}

Error file_deleted(const Bucket& bucket, bson::ValueView id) {
  return Error(kFileDeleted, "bucket " + in_quotes(bucket.options().name) + ": the file with _id " +
                                 bson::to_json(id, bson::JsonForm::kRelaxed) +
                                 " has been deleted in the store while it was open");
}

tl::unexpected<Error> file_not_found(const Bucket& bucket, bson::ValueView id) {
  return fail(kFileNotFound, "bucket " + in_quotes(bucket.options().name) +
                                 ": there is no file with _id " +
                                 bson::to_json(id, bson::JsonForm::kRelaxed));
}

}  // namespace gridmount::gridfs
