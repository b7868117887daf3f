// Random access to the content of a GridFS file: read, write, truncate at any offset.
//
// A File stands for one files document while somebody has it open; all handles share it. Dirty
// chunks live in memory, within the FileTable's budget, until a commit writes them and the files
// document in one transaction. Invariants:
//  F1. What the store shows of a file is at any time one commit: all dirty chunks of a moment
//      together with the length, uploadDate, md5 and times of that moment.
//  F2. A commit works on a frozen set of chunks; writes meanwhile go to copies. No operation waits
//      for another file's commit, except for memory when the budget is spent.
//  F3. md5 in the files document is right or absent, never stale.
//  F4. A chunk that is absent within the length is a hole (metadata.sparse is then true) and reads
//      as zeros. In a file not marked sparse a missing chunk is ChunkIsMissing, a wrong length
//      ChunkIsWrongSize: never silent zeros.
//  F5. Of a file whose files document somebody else has deleted, what is not in memory and what
//      would have to be written is FileDeleted, holes included: an absent chunk is looked into
//      before it counts as one.
// Thread-safety: everything here is thread-safe.
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

// What stat(2) tells as st_blksize, and what holes and allocated ranges are told in.
inline constexpr int64_t kBlockBytes = 4096;

// Bytes of a file, pointing into the store's pages or dirty chunks, kept alive by this object.
class ReadResult {
 public:
  ReadResult() = default;
  ReadResult(ReadResult&&) = default;
  ReadResult& operator=(ReadResult&&) = default;

  // Of bytes that are nobody's file and outlive this.
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

enum class TimeUpdate { kNow, kKeep };  // kKeep: the kernel's write-back cache keeps the times

class File {
 public:
  virtual ~File() = default;

  virtual const bson::Value& id() const = 0;
  virtual int64_t length() const = 0;
  // What the files document would hold if committed now.
  virtual FilesDocument document() const = 0;

  // Short at the end of the file, empty behind it.
  virtual Result<ReadResult> read(int64_t offset, size_t size) = 0;
  // FileTooLarge beyond max_file_bytes. May wait for a commit when the budget is spent.
  virtual Status write(int64_t offset, std::span<const uint8_t> data, TimeUpdate times) = 0;
  virtual Status truncate(int64_t length, TimeUpdate times) = 0;
  // The bytes from `offset` on become zeros, as far as the file goes, and whole chunks of them
  // holes. Commits, also what was written before.
  virtual Status zero(int64_t offset, int64_t size, TimeUpdate times) = 0;

  // Counts the blocks that the range touches as allocated from now on, also behind the end of the
  // file: what of them is not stored is in document().allocated until it is written, cut off or
  // made zeros. No room is kept for them.
  virtual Status allocate(int64_t offset, int64_t size) = 0;

  // The first byte at or behind `offset` that is in no hole; nothing if there is none. Holes are
  // chunks, and next to them blocks of zeros (open_file_seek.cc).
  virtual Result<std::optional<int64_t>> next_data(int64_t offset) = 0;
  // The first that is in a hole, or the end of the file; nothing if `offset` is not before it.
  virtual Result<std::optional<int64_t>> next_hole(int64_t offset) = 0;

  // With the next commit.
  virtual void set_times(const timespec& mtime, const timespec& ctime) = 0;

  // Attributes of the open file change in the store at once (one transaction) and in this object.
  virtual Status set_posix(const PosixFields& changes) = 0;
  // The same for a change that depends on what there is, which nobody else changes meanwhile.
  virtual Status change_posix(const PosixChange& change) = 0;

  // Commits all dirty chunks (close(2)); the error of an earlier background commit is reported
  // once.
  virtual Status flush() = 0;
  // The same, durable (fsync(2)).
  virtual Status sync() = 0;
  // Before more is written where the disk may be full: commits what waits, if it is more than a
  // mebibyte or there was no room for it. OutOfDiskSpace if there still is none.
  virtual Status expect_room() = 0;
};

struct FileTableOptions {
  uint64_t dirty_bytes_max = 64 * 1024 * 1024;      // of all files together, hard
  std::chrono::milliseconds commit_interval{1000};  // age at which dirty chunks are committed
  uint64_t commit_bytes = 8 * 1024 * 1024;          // a file with so much dirty is committed early
  bool md5 = true;
  // If set, each commit that changes content calls it in its transaction, before it writes. It may
  // change `upload_date`, which the files document of that _id is to get. Its error fails the
  // commit. Must be thread-safe.
  std::function<Status(const Bucket& bucket, engine::Transaction& transaction,
                       const bson::Value& id, bson::Date& upload_date)>
      adjust_upload_date;
};

// The open files of one bucket, with the threads that commit in the background and recompute md5.
class FileTable {
 public:
  static std::unique_ptr<FileTable> create(const Bucket& bucket, const FileTableOptions& options);
  virtual ~FileTable() = default;  // commits everything; errors are lost, so call close() first

  // The File of that id; the same object while anybody holds it. FileNotFound.
  virtual Result<std::shared_ptr<File>> open(bson::ValueView id) = 0;
  // The open File of that id, or null.
  virtual std::shared_ptr<File> find(bson::ValueView id) = 0;

  // The File of a files document that was made in `detached`, before anybody knows it.
  virtual Result<std::shared_ptr<File>> open_detached(bson::View document) = 0;
  // The document of an open file has been moved from `detached` to `files`: that is committed.
  virtual void set_attached(bson::ValueView id) = 0;

  // Removes the file inside the caller's transaction: if it is open it is detached and lives on for
  // its holders until the last lets go; otherwise it is deleted or, if large, detached.
  // `after_commit` must be called once the transaction is committed (it reclaims in the
  // background).
  virtual Status remove(engine::Transaction& transaction, bson::ValueView id) = 0;
  virtual void after_commit() = 0;

  // Commits all dirty files; `durable` also makes them so. The first error.
  virtual Status flush_all(engine::Durability durability) = 0;
  // flush_all, then waits for pending md5 up to `md5_patience`, stops the threads.
  virtual Status close(std::chrono::milliseconds md5_patience) = 0;

  virtual uint64_t dirty_bytes() const = 0;
};

}  // namespace gridmount::gridfs
