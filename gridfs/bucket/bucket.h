// A GridFS bucket as the drivers' specification has it: upload, download, revisions, rename,
// delete. Source: "GridFS", MongoDB drivers' specifications.
//
// Beyond the specification: an upload's chunks are never orphans. From the first chunk on, the
// files document stands in `<bucket>.detached`; closing moves it to `<bucket>.files` in the
// transaction of the last chunks. Documents left there by a killed process are removed, with their
// chunks, by reclaim().
//
// `<bucket>.detached` also holds, of a file that was cut by more chunks than one transaction should
// remove, the document {_id: {truncated: <files_id>}, from: int64, to: int64}: the file's chunks
// with from <= n < to are garbage behind its end. It goes with the last of them.
//
// `<bucket>.links` holds the further names of files, see links.h. They go with the file.
//
// Thread-safety: Bucket is thread-safe and immutable; a stream belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/files_document.h"

namespace gridmount::gridfs {

struct BucketOptions {
  std::string name = "fs";
  int32_t chunk_bytes = kDefaultChunkBytes;
  bool md5 = true;
};

struct UploadOptions {
  std::optional<bson::Value> id;            // otherwise a new ObjectId
  std::optional<int32_t> chunk_bytes;       // otherwise the bucket's
  bson::View metadata;                      // stored as `metadata` if not empty
  std::optional<std::string> content_type;  // the deprecated root field
};

class UploadStream {
 public:
  virtual ~UploadStream() = default;  // without close(): as abort(), errors being lost
  virtual const bson::Value& id() const = 0;
  // Full chunks are committed as they fill, a few at a time. StreamClosed after close or abort.
  virtual Status write(std::span<const uint8_t> data) = 0;
  // Writes the rest and the files document. Commits; durable on return only if asked.
  virtual Status close(engine::Durability durability = engine::Durability::kCommitted) = 0;
  // Removes what was uploaded.
  virtual Status abort() = 0;
};

class DownloadStream {
 public:
  virtual ~DownloadStream() = default;
  virtual const FilesDocument& file() const = 0;
  // The next bytes, at most `max` of them, empty at the end. The span points into the store and is
  // valid until the next call. All chunks are read from one snapshot. ChunkIsMissing,
  // ChunkIsWrongSize.
  virtual Result<std::span<const uint8_t>> read(size_t max) = 0;
};

struct ByteRange {
  int64_t start = 0;
  int64_t end = 0;  // exclusive
};

class Bucket {
 public:
  Bucket(engine::Store& store, std::shared_ptr<engine::Database> database, BucketOptions options);

  const BucketOptions& options() const { return options_; }
  engine::Store& store() const { return store_; }
  engine::Database& database() const { return *database_; }
  engine::Collection& files() const { return *files_; }
  engine::Collection& chunks() const { return *chunks_; }
  engine::Collection& directories() const { return *directories_; }
  engine::Collection& detached() const { return *detached_; }
  engine::Collection& links() const { return *links_; }

  // Creates the collections and the indexes that are missing: files {filename: 1, uploadDate: 1},
  // chunks {files_id: 1, n: 1} unique, directories {parent: 1, name: 1} unique. Key values compare
  // numerically.
  Status ensure_indexes(engine::Transaction& transaction) const;
  // Creates the collection of further names and its index {file: 1}, if they are missing.
  Status ensure_links(engine::Transaction& transaction) const;

  // The first time per Bucket object, ensures the indexes if the bucket has no files, as the
  // specification says. The Bucket must outlive the stream.
  Result<std::unique_ptr<UploadStream>> open_upload_stream(std::string_view filename,
                                                           const UploadOptions& options = {}) const;

  // FileNotFound; InvalidRange if the range is negative, reversed or past the end.
  Result<std::unique_ptr<DownloadStream>> open_download_stream(
      bson::ValueView id, std::optional<ByteRange> range = {}) const;
  // revision >= 0 counts from the oldest, < 0 from the newest. FileNotFound if no file has the
  // name, RevisionNotFound if it has not so many.
  Result<std::unique_ptr<DownloadStream>> open_download_stream_by_name(
      std::string_view filename, int revision = -1, std::optional<ByteRange> range = {}) const;

  // FileDeleted if no files document has that _id, detached ones included.
  Status expect_file(engine::Snapshot& snapshot, bson::ValueView id) const;

  // Files documents matching `filter`, on the caller's snapshot.
  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options = {}) const;

  // The file vanishes for readers at once, in one transaction; its chunks go in that transaction if
  // they are few, else in slices afterwards, before return. FileNotFound.
  Status remove(bson::ValueView id) const;
  Status remove_by_name(std::string_view filename) const;  // all revisions; FileNotFound if none
  Status rename(bson::ValueView id, std::string_view new_filename) const;
  Status rename_by_name(std::string_view filename, std::string_view new_filename) const;
  // Files, chunks and our own collections of the bucket.
  Status drop() const;

  // The same inside the caller's transaction. False if the file was detached because it is large:
  // then reclaim() is to follow once the transaction is committed.
  Result<bool> remove(engine::Transaction& transaction, bson::ValueView id) const;
  // Moves a files document to `detached` inside the caller's transaction, so that no name leads to
  // it while its chunks still stand. reclaim() then removes them. FileNotFound.
  Status detach(engine::Transaction& transaction, bson::ValueView id) const;
  // Removes one detached file and its chunks, a bounded number of chunks per transaction. Does
  // nothing if no detached file has that id.
  Status reclaim(bson::ValueView id) const;
  // Notes in the caller's transaction that the chunks [from, to) of a file are garbage, which
  // reclaim_truncated() removes as reclaim() does. Until then the file must have no chunks there
  // that count; one such range per file.
  Status note_truncated(engine::Transaction& transaction, bson::ValueView id, int64_t from,
                        int64_t to) const;
  Status reclaim_truncated(bson::ValueView id) const;
  // Everything in `detached`; to be called when no stream or file of this bucket is open (start of
  // a program).
  Status reclaim_all() const;

 private:
  struct IndexCheck;

  Status remove_marker(engine::Transaction& transaction, bson::ValueView id) const;
  // The further names of a file that goes.
  Status remove_links(engine::Transaction& transaction, bson::View files_document) const;
  // Behind the last of the file's chunks [from, to) that is there; `from` if none is.
  Result<int64_t> end_of_stored(engine::Transaction& transaction, const bson::Value& id,
                                int64_t from, int64_t to) const;
  Result<FilesDocument> find_file(engine::Snapshot& snapshot, bson::ValueView id) const;

  engine::Store& store_;
  std::shared_ptr<engine::Database> database_;
  BucketOptions options_;
  std::unique_ptr<engine::Collection> files_;
  std::unique_ptr<engine::Collection> chunks_;
  std::unique_ptr<engine::Collection> directories_;
  std::unique_ptr<engine::Collection> detached_;
  std::unique_ptr<engine::Collection> links_;
  std::shared_ptr<IndexCheck> index_check_;
};

// A file of at most so many chunks is deleted within one transaction.
inline constexpr int64_t kChunksDeletedAtOnce = 16;

// The FileNotFound error of that _id, and the FileDeleted one.
tl::unexpected<Error> file_not_found(const Bucket& bucket, bson::ValueView id);
Error file_deleted(const Bucket& bucket, bson::ValueView id);

// Names of all buckets in a database: the X of every collection X.files, in order.
Result<std::vector<std::string>> bucket_names(engine::Database& database,
                                              engine::Snapshot& snapshot);

}  // namespace gridmount::gridfs
