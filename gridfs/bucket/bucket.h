// A GridFS bucket as the drivers' specification defines it: upload, download, revisions, rename,
// delete. Source: "GridFS", MongoDB drivers' specifications.
//
// Beyond the specification, the chunks of an upload always belong to a document. While an upload is
// in progress, its files document is in `<bucket>.detached`. close() moves the document to
// `<bucket>.files` in the transaction that writes the last chunks. A files document in `detached`
// is called an orphan. Either a killed process has left the orphan, or a process still uses it. In
// a shared store this may be another process, and each orphan has a lease, the field `leased`
// (orphan_leases.h). reclaim() removes an orphan with its chunks.
//
// A truncation may cut off more chunks than one transaction should remove. `<bucket>.detached` then
// also holds the marker {_id: {truncated: <files_id>}, from: int64, to: int64}: the file's chunks
// with from <= n < to are garbage beyond the end of the file. The transaction that removes the last
// of these chunks also removes the marker.
//
// `<bucket>.links` holds the additional names of files (links.h). The removal of a file also
// removes its additional names.
//
// Bucket is thread-safe: its methods are const, and a mutex guards the record that the indexes were
// checked. A stream belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/files_document.h"

namespace gridmount::gridfs {

struct BucketOptions {
  std::string name = "fs";
  int32_t chunk_bytes = kDefaultChunkBytes;
  bool md5 = true;
};

// The fields of a files document that are known only when the upload is committed.
struct CommitFields {
  bson::Document metadata;                         // stored as `metadata` if not empty
  std::optional<bson::Date> upload_date_min = {};  // uploadDate is not before this
};

struct UploadOptions {
  std::optional<bson::Value> id;                   // must be unused; default: a new ObjectId
  std::optional<int32_t> chunk_bytes;              // default: the bucket's
  bson::View metadata;                             // stored as `metadata` if not empty; copied
  std::optional<std::string> content_type;         // the deprecated field `contentType`
  std::optional<bson::Date> upload_date_min = {};  // uploadDate is not before this
  bson::View aliases = {};                         // the old array `aliases`, if not empty; copied
  // If set, close() calls it in the transaction that commits the file, before the files document is
  // inserted. It may read and change the store. Its result replaces `metadata` and
  // `upload_date_min`. If the function fails, close() fails with that error. close() calls the
  // function again whenever it repeats the transaction (retry.h).
  std::function<Result<CommitFields>(engine::Transaction&)> before_commit = {};
};

class UploadStream {
 public:
  virtual ~UploadStream() = default;  // without close(): as abort(), but ignores errors
  virtual const bson::Value& id() const = 0;
  // Copies the data. Commits full chunks, several in one transaction. Fails with StreamClosed after
  // close() or abort(), and with FileTooLarge beyond max_file_bytes() (chunk_size.h). write() and
  // close() fail with DuplicateKey if another file has the _id UploadOptions::id. After any error
  // but StreamClosed and FileTooLarge, only abort() and the destructor may be called.
  virtual Status write(std::span<const uint8_t> data) = 0;
  // Writes the remaining chunks and the files document. On return the file is committed. It is
  // durable only if `durability` is kDurable. Fails with FileDeleted if somebody has removed the
  // orphan of this upload. In a store that other processes use too (Capabilities::exclusive is
  // false), close() does not notice such a removal.
  virtual Status close(engine::Durability durability = engine::Durability::kCommitted) = 0;
  // Removes everything that was uploaded. Fails with StreamClosed after close() or abort().
  virtual Status abort() = 0;
};

class DownloadStream {
 public:
  virtual ~DownloadStream() = default;
  virtual const FilesDocument& file() const = 0;
  // Returns the next bytes, but no more than `max`, and an empty span at the end. The span is valid
  // until the next call, and only while the stream exists. All chunks are read from one snapshot.
  // In a sparse file a missing chunk reads as zeros. In any other file read() fails with
  // ChunkIsMissing. Fails with ChunkIsWrongSize if a chunk does not have the size that it must
  // have.
  virtual Result<std::span<const uint8_t>> read(size_t max) = 0;
};

struct ByteRange {
  int64_t start = 0;
  int64_t end = 0;  // exclusive
};

class Bucket {
 public:
  // `store` must outlive this object. Does not access the store.
  Bucket(engine::Store& store, std::shared_ptr<engine::Database> database, BucketOptions options);

  const BucketOptions& options() const { return options_; }
  engine::Store& store() const { return store_; }
  engine::Database& database() const { return *database_; }
  engine::Collection& files() const { return *files_; }
  engine::Collection& chunks() const { return *chunks_; }
  engine::Collection& directories() const { return *directories_; }
  engine::Collection& detached() const { return *detached_; }
  engine::Collection& links() const { return *links_; }

  // Creates the collections and indexes that are missing: files {filename: 1, uploadDate: 1},
  // chunks {files_id: 1, n: 1} unique, directories {parent: 1, name: 1} unique. An existing index
  // with the same fields is enough, even if its directions are 1.0 or NumberLong(1), or if it is
  // not unique.
  Status ensure_indexes(engine::Transaction& transaction) const;
  // Creates the collection of additional names and its index {file: 1}, if they are missing.
  Status ensure_links(engine::Transaction& transaction) const;

  // The first call per Bucket object, and the first after drop(), creates the indexes if the bucket
  // has no files, as the specification demands. Fails with BadValue if chunk_bytes is not between 1
  // and kMaxChunkBytes. The Bucket must outlive the stream.
  Result<std::unique_ptr<UploadStream>> open_upload_stream(std::string_view filename,
                                                           const UploadOptions& options = {}) const;

  // Both functions fail with InvalidRange if the range is negative, ends before it begins, or
  // reaches beyond the end of the file, and with InvalidFilesDocument as FilesDocument::parse()
  // does. The Bucket must outlive the stream. open_download_stream() fails with FileNotFound if
  // `files` has no document with that _id.
  Result<std::unique_ptr<DownloadStream>> open_download_stream(
      bson::ValueView id, std::optional<ByteRange> range = {}) const;
  // A revision >= 0 counts from the oldest, < 0 from the newest. Fails with FileNotFound if no file
  // has the name, and with RevisionNotFound if the file has too few revisions.
  Result<std::unique_ptr<DownloadStream>> open_download_stream_by_name(
      std::string_view filename, int revision = -1, std::optional<ByteRange> range = {}) const;

  // Fails with FileDeleted if neither `files` nor `detached` has a document with that _id.
  Status expect_file(engine::Snapshot& snapshot, bson::ValueView id) const;

  // Returns a cursor over the documents of `files` in the caller's snapshot that match `filter`.
  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options = {}) const;

  // Removes a file. One transaction removes the files document, and the chunks too if they are few.
  // Otherwise the chunks are removed in slices before this function returns. Fails with
  // FileNotFound.
  Status remove(bson::ValueView id) const;
  // Removes all revisions of the name, the oldest first, in transactions of bounded size. Until the
  // last transaction, the name leads to its newest content. A revision that somebody adds meanwhile
  // stays. Fails with FileNotFound if no file has the name. After an error in a later transaction,
  // the newest revisions remain.
  Status remove_by_name(std::string_view filename) const;
  // rename() renames one file, and rename_by_name() all revisions of a name. Each does so in one
  // transaction, and fails with FileNotFound if no file has the _id or the name.
  Status rename(bson::ValueView id, std::string_view new_filename) const;
  Status rename_by_name(std::string_view filename, std::string_view new_filename) const;
  // Drops all collections of the bucket in one transaction: the two of GridFS and the three that
  // only gridmount has.
  Status drop() const;
  // Like drop(), but fails with BucketNotEmpty if the bucket holds something, see expect_empty().
  Status drop_if_empty() const;
  // For a transaction that is about to drop the bucket's collections. Fails with BucketNotEmpty if
  // there is a document in `files`, a directory other than the root, or an additional name.
  // Documents that are no files documents count too. Without Capabilities::transactional_catalog,
  // a transaction cannot drop what it has read, so this function reads a snapshot of its own.
  Status expect_empty(engine::Transaction& transaction) const;

  // Removes a file inside the caller's transaction. Returns false if the file was only moved to
  // `detached`, because it is large, has garbage of a truncation, or has an invalid document. The
  // caller must then call reclaim() after the commit. Fails with FileNotFound.
  Result<bool> remove(engine::Transaction& transaction, bson::ValueView id) const;
  // Like remove(), for a document that was read in the transaction.
  Result<bool> remove_document(engine::Transaction& transaction,
                               const bson::Document& files_document) const;
  // Moves a files document to `detached` inside the caller's transaction, so that no name leads to
  // it while its chunks still exist. reclaim() then removes them. Fails with FileNotFound.
  Status detach(engine::Transaction& transaction, bson::ValueView id) const;
  Status detach_document(engine::Transaction& transaction,
                         const bson::Document& files_document) const;
  // Removes one orphan of `detached` and its chunks, a bounded number of chunks per transaction.
  // Does nothing if `detached` has no file with that id.
  Status reclaim(bson::ValueView id) const;
  // Records in the caller's transaction that the chunks [from, to) of a file are garbage.
  // reclaim_truncated() then removes them in slices. Until it is done, the file must have no valid
  // chunks in that range. A file has at most one such range: a second call before
  // reclaim_truncated() is done fails with DuplicateKey.
  Status record_truncated(engine::Transaction& transaction, bson::ValueView id, int64_t from,
                          int64_t to) const;
  Status reclaim_truncated(bson::ValueView id) const;
  // Returns the form that a files document has in `detached`. If other processes use the store too,
  // this form has a lease: the field `leased`, a date.
  bson::Document as_orphan(bson::View files_document) const;
  // Renews the leases of these files, in transactions of bounded size. Ignores files that are not
  // in `detached`.
  Status renew_leases(const std::vector<bson::Value>& ids) const;
  // Reclaims the orphans whose lease is older than kOrphanLease, and the chunks that truncations
  // have left. An orphan without a lease gets one.
  Status reclaim_expired() const;
  // Returns true if a truncation of the file has left garbage. reclaim_truncated() removes the
  // garbage.
  Result<bool> has_garbage(engine::Snapshot& snapshot, bson::ValueView id) const;
  // Reclaims everything in `detached`. No stream or file of this bucket may be open, so call it
  // when the program starts.
  Status reclaim_all() const;

 private:
  struct IndexCheck;
  // A file in `detached`.
  struct Orphan {
    bson::Value id;
    std::optional<bson::Date> leased;
  };
  struct Detached {
    std::vector<Orphan> orphans;
    std::vector<bson::Value> truncated;  // the files with a marker
  };
  Result<Detached> read_detached() const;
  Status drop_in(engine::Transaction& transaction) const;
  Status expect_empty_in(engine::Snapshot& snapshot) const;

  // Removes, in one transaction, those of the files `ids` that still have the filename. Returns the
  // files that were only moved to `detached`.
  Result<std::vector<bson::Value>> remove_batch(std::string_view filename,
                                                const std::vector<bson::Value>& ids) const;
  Status remove_marker(engine::Transaction& transaction, bson::ValueView id) const;
  // Fails with FileNotFound.
  Result<bson::Document> read_file(engine::Transaction& transaction, bson::ValueView id) const;
  // Removes the additional names of a file that is being removed.
  Status remove_links(engine::Transaction& transaction, bson::View files_document) const;
  // Returns the number after the last stored chunk of [from, to), or `from` if none is stored.
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

// The time for which an orphan stays if no process renews its lease.
inline constexpr std::chrono::hours kOrphanLease{24};

// A file with no more chunks than this, and without garbage of a truncation, is deleted in one
// transaction.
inline constexpr int64_t kChunksDeletedAtOnce = 16;

// Returns the form that a document of `detached` has in `files`: without the lease.
bson::Document without_lease(bson::View orphan);

// Return the error FileNotFound, FileDeleted or FileChanged, with a message that has the _id.
tl::unexpected<Error> file_not_found(const Bucket& bucket, bson::ValueView id);
Error file_deleted(const Bucket& bucket, bson::ValueView id);
Error file_changed(const Bucket& bucket, bson::ValueView id);

// Returns the names of all buckets in a database, sorted: the X of every collection X.files.
Result<std::vector<std::string>> bucket_names(engine::Database& database,
                                              engine::Snapshot& snapshot);

}  // namespace gridmount::gridfs
