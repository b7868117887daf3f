// Random access to the content of a GridFS file: read, write and truncate at any offset.
//
// A File represents one files document while a handle is open. All handles share the File. Dirty
// chunks live in memory, within the FileTable's budget, until a commit writes them and the files
// document in one transaction. Invariants:
// F1. At any time, the store shows the state that one commit has written: all chunks that were
//     dirty at one moment, with the length, uploadDate, md5 and times of the same moment. A file
//     that was truncated by many chunks and has grown again needs two commits. Between the two
//     commits, the store shows the file with only the whole chunks that the truncation left.
// F2. A commit writes a frozen set of chunks. Writes during the commit go to copies of these
//     chunks. No operation waits for another file's commit, except for memory when the budget is
//     spent.
// F3. The md5 in the files document is right or absent, never stale.
// F4. A chunk that is absent within the length is a hole and reads as zeros. A file with holes has
//     metadata.sparse: true. In a file that is not marked sparse, a missing chunk fails with
//     ChunkIsMissing and a chunk of the wrong size with ChunkIsWrongSize. Neither ever reads as
//     zeros.
// F5. Another client may delete the files document while the file is open. Every access that needs
//     the store then fails with FileDeleted: reads of content that is not in memory, and the next
//     commit. That commit drops all changes. Later writes fail, and later commits have nothing to
//     do. A read checks that the files document exists before it treats an absent chunk as a hole.
//     Only holes that are known in memory still read as zeros.
// F6. If other processes change the store too (Capabilities::exclusive is false), an open file
//     without uncommitted changes continues with the content that they commit. If that content has
//     another chunkSize, writes to the open file fail with FileDeleted from then on. If another
//     process has committed content that this file has not adopted, our commit fails with
//     FileChanged. Our uncommitted changes are then lost, and the store has the other process's
//     whole content.
//
// Thread-safe.
#pragma once

#include <sys/uio.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Bytes of a file, in the store's pages or in dirty chunks. The object keeps the bytes alive,
// except if ReadResult::of() has made it.
class ReadResult {
 public:
  ReadResult() = default;
  ReadResult(ReadResult&&) = default;
  ReadResult& operator=(ReadResult&&) = default;

  // Wraps bytes that belong to no file. `bytes` must outlive the result.
  static ReadResult of(std::span<const uint8_t> bytes) {
    ReadResult result;
    result.size_ = bytes.size();
    if (!bytes.empty()) {
      result.pieces_.push_back({const_cast<uint8_t*>(bytes.data()), bytes.size()});
    }
    return result;
  }

  const std::vector<iovec>& pieces() const { return pieces_; }
  size_t size() const { return size_; }

 private:
  friend class FileReader;
  std::vector<iovec> pieces_;
  size_t size_ = 0;
  std::unique_ptr<engine::Snapshot> snapshot_;
  std::vector<std::shared_ptr<const void>> held_;
};

// With kNow, a change sets mtime and ctime to the current time. With kKeep it leaves them, because
// the kernel sends them later with setattr.
enum class TimeUpdate { kNow, kKeep };

class File {
 public:
  virtual ~File() = default;

  virtual const bson::Value& id() const = 0;
  virtual int64_t length() const = 0;
  // Returns what the files document would hold if the file were committed now.
  virtual FilesDocument document() const = 0;

  // Returns fewer than `size` bytes at the end of the file, and none after it. read(), write(),
  // truncate(), zero() and fallocate() fail with BadValue if the offset or the new length is
  // negative. The `size` of zero() and fallocate() must not be negative.
  virtual Result<ReadResult> read(int64_t offset, size_t size) = 0;
  // write(), truncate(), zero() and fallocate() fail with FileTooLarge if the range or the new
  // length ends beyond max_file_bytes(). In a file whose chunks are larger than max_chunk_bytes(),
  // they fail with FileTooLarge beyond the end of the file. write() may wait for a commit when the
  // budget is spent.
  virtual Status write(int64_t offset, std::span<const uint8_t> data, TimeUpdate times) = 0;
  virtual Status truncate(int64_t length, TimeUpdate times) = 0;
  // Writes zeros to `size` bytes from `offset` on, but not beyond the end of the file. Chunks that
  // lie wholly in the range become holes. If the range contains whole chunks, zero() first commits
  // everything that was written so far, and the holes are committed on return.
  virtual Status zero(int64_t offset, int64_t size, TimeUpdate times) = 0;

  // Counts the blocks that the range touches as allocated, even after the end of the file. A block
  // stays in document().allocated until it is written, truncated away or zeroed. Stored blocks are
  // not listed. No disk space is reserved.
  virtual Status fallocate(int64_t offset, int64_t size) = 0;

  // Returns the first byte at or after `offset` that is in no hole, or nothing if there is none. A
  // hole consists of absent chunks, and of blocks of zeros in chunks next to them or at an end of
  // the file (open_file_seek.cc).
  virtual Result<std::optional<int64_t>> next_data(int64_t offset) = 0;
  // Returns the first byte at or after `offset` that is in a hole, or the end of the file if there
  // is no such byte. Returns nothing if `offset` is not before the end of the file.
  virtual Result<std::optional<int64_t>> next_hole(int64_t offset) = 0;

  // Sets the times that the files document gets with the next commit.
  virtual void set_times(const timespec& mtime, const timespec& ctime) = 0;

  // Changes attributes of the open file in this object and, in one transaction, in the store.
  // Ignores a stale write-back of times (is_stale_time_writeback()). Fails with FileDeleted if the
  // files document was deleted.
  virtual Status set_posix(const PosixFields& changes) = 0;
  // Like set_posix(), for a change that depends on the present fields. Nobody else changes the
  // fields between the call of `change` and the commit.
  virtual Status change_posix(const PosixChange& change) = 0;

  // Commits all dirty chunks (close(2)). Reports the error of an earlier background commit once.
  // But an error of a full disk no longer counts once a later commit has succeeded, even that of
  // flush() itself.
  virtual Status flush() = 0;
  // Like flush(), and durable on return (fsync(2)).
  virtual Status fsync() = 0;
  // Must be called before a write when the disk may be full. Commits the dirty chunks if they have
  // at least 1 MiB, or if an earlier commit found no room for them. Fails with OutOfDiskSpace if
  // there still is no room.
  virtual Status expect_room() = 0;
};

class ChunkCache;

struct FileTableOptions {
  uint64_t dirty_bytes_max = 64 * 1024 * 1024;      // limits the dirty data of all files
  std::chrono::milliseconds commit_interval{1000};  // age at which dirty chunks are committed
  uint64_t commit_bytes = 8 * 1024 * 1024;  // a file with this many dirty bytes is committed early
  bool md5 = true;
  // For a store over a network: the cache that keeps stored chunks and fetches them ahead. Several
  // tables may share one cache. Null: each read asks the store.
  std::shared_ptr<ChunkCache> chunk_cache;
  // Each commit of content calls this in its transaction before the first write. The function may
  // change `upload_date`, the date that the files document will get. An error fails the commit.
  // Must be thread-safe.
  std::function<Status(const Bucket& bucket, engine::Transaction& transaction,
                       const bson::Value& id, bson::Date& upload_date)>
      adjust_upload_date;
};

// The open files of one bucket, with the threads that commit in the background and recompute md5.
// Thread-safe, except that the caller must not run close() and the destructor at the same time. The
// first call of close() closes the table, and later calls do nothing.
class FileTable {
 public:
  // `bucket` must outlive the table.
  static std::unique_ptr<FileTable> create(const Bucket& bucket, const FileTableOptions& options);
  virtual ~FileTable() = default;  // commits everything but ignores errors, so call close() first

  // Returns the File of that id. All callers get the same object while one of them holds it. Fails
  // with FileNotFound if the file is not open and `files` does not have it, and with
  // InvalidFilesDocument if the files document cannot be used.
  virtual Result<std::shared_ptr<File>> open(bson::ValueView id) = 0;
  // Like open(), for a caller that will read the beginning of the file. The content of a small file
  // comes with its files document.
  virtual Result<std::shared_ptr<File>> open_to_read(bson::ValueView id) = 0;
  // Returns the open File of that id, or null.
  virtual std::shared_ptr<File> find(bson::ValueView id) = 0;

  // Gives an open file the files document that the caller has just read. An open file without
  // uncommitted changes then continues with the document's content. Only for a store that other
  // processes change (Capabilities::exclusive is false). Does nothing if the file is not open.
  virtual void refresh(bson::View document) = 0;

  // Opens a file whose files document the caller has just inserted into `detached`. Nobody else may
  // know the file yet.
  virtual Result<std::shared_ptr<File>> open_detached(bson::View document) = 0;
  // Opens a file whose files document the caller's transaction has inserted into `files`. Must be
  // called before the commit, while nobody else can know the file.
  virtual Result<std::shared_ptr<File>> open_new(bson::View document) = 0;
  // Must be called after the commit of a transaction that moved an open file's document from
  // `detached` to `files`.
  virtual void set_attached(bson::ValueView id) = 0;

  // Removes the file inside the caller's transaction. Fails with FileNotFound if `files` does not
  // have it. An open file becomes an orphan: its document moves to `detached`, and the file lives
  // until its last holder releases it. A file that is not open is deleted, or moved to `detached`
  // if it is large. `document` is the files document, if the caller has read it in the transaction.
  //
  // Afterwards the caller must call one of the next two functions on the same thread, before the
  // thread removes files in another transaction (RemovalScope).
  virtual Status remove(engine::Transaction& transaction, bson::ValueView id,
                        const bson::Document* document = nullptr) = 0;
  // The transaction was committed. Starts the removal of chunks in the background. If free space is
  // scarce, waits until the removals are done or have failed.
  virtual void after_commit() = 0;
  // The transaction was not committed, or nobody knows whether it was: its files count as not
  // removed. If it was committed after all, an open file is as after a removal by another client.
  // Does nothing after after_commit().
  virtual void give_up_removals() = 0;

  // Begins to renew the leases of this table's orphans, and to remove orphans with an expired lease
  // (orphan_leases.h). Must be called for a store that others use too, when the bucket is ready for
  // changes.
  virtual void keep_leases() = 0;

  // Commits all dirty files. With kDurable, also makes the commits durable if all have succeeded.
  // Returns the first error.
  virtual Status flush_all(engine::Durability durability) = 0;
  // Calls flush_all() with kCommitted, waits up to `md5_patience` for pending md5 digests, and
  // stops the threads. Returns the error of flush_all().
  virtual Status close(std::chrono::milliseconds md5_patience) = 0;

  // Returns the memory in bytes that the dirty chunks of all files occupy.
  virtual uint64_t dirty_bytes() const = 0;
};

// Exists while the calling thread's transaction may remove files, and until after_commit(). At its
// end, the removals of a transaction that was not committed are given up.
class RemovalScope {
 public:
  // `files` must outlive this object.
  explicit RemovalScope(FileTable& files) : files_(files) {}
  ~RemovalScope() { files_.give_up_removals(); }
  RemovalScope(const RemovalScope&) = delete;
  RemovalScope& operator=(const RemovalScope&) = delete;

 private:
  FileTable& files_;
};

}  // namespace gridmount::gridfs
