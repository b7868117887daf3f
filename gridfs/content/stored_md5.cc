#include "gridfs/content/stored_md5.h"

#include <algorithm>
#include <chrono>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/bucket/zeros.h"

namespace gridmount::gridfs {
namespace {

// The maximum age of a snapshot. A snapshot keeps the store from reusing pages.
constexpr std::chrono::seconds kSnapshotAge{1};
constexpr int64_t kPrefetchBytes = 2 * 1024 * 1024;

// Holes are read as zeros, and hashing zeros costs as much as hashing data. The holes of a file
// must therefore not be larger than this, or than its stored chunks. Without the limit, a hole of a
// terabyte would keep a processor busy for half an hour.
constexpr int64_t kHoleBytesMax = 64 * 1024 * 1024;

bool is_mostly_hole(const FilesDocument& file) {
  if (!file.sparse || !file.stored_chunks) return false;
  const int64_t stored = *file.stored_chunks * file.chunk_bytes;
  return file.length - stored > std::max(stored, kHoleBytesMax);
}

// Reads and hashes one file.
class Reading {
 public:
  Reading(const Bucket& bucket, bson::ValueView id) : bucket_(bucket), by_id_(equals("_id", id)) {}

  // Takes a new snapshot. Returns false if there is nothing to do, or if the chunks read so far are
  // out of date.
  Result<bool> renew() {
    snapshot_.reset();
    GM_ASSIGN(snapshot_, bucket_.store().snapshot());
    taken_ = std::chrono::steady_clock::now();
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.files().find_one(*snapshot_, by_id_));
    if (!document) return false;
    GM_ASSIGN(FilesDocument file, FilesDocument::parse(*document));
    if (file.md5 || is_mostly_hole(file)) return false;
    const bool same =
        !file_ || (file_->length == file.length && file_->upload_date == file.upload_date &&
                   file_->chunk_bytes == file.chunk_bytes);
    if (!file_) {
      file_ = std::move(file);
      chunks_.emplace(bucket_.chunks(), file_->id, file_->chunk_bytes, StoredChunks::Valid::kLast);
    }
    return same;
  }

  bool old() const { return std::chrono::steady_clock::now() - taken_ > kSnapshotAge; }
  const FilesDocument& file() const { return *file_; }

  Status hash(int64_t n, Md5& md5) {
    if (n >= prefetched_) {
      const int64_t ahead = std::max<int64_t>(1, kPrefetchBytes / file_->chunk_bytes);
      prefetched_ = std::min(n + ahead, file_->chunk_count());
      chunks_->prefetch(*snapshot_, n, prefetched_);
    }
    GM_ASSIGN(const std::optional<StoredChunks::Chunk> chunk,
              chunks_->find(*snapshot_, n, file_->length, StoredChunks::Verify::kChecksum));
    if (chunk) {
      md5.update(chunk->content);
      return {};
    }
    if (!file_->sparse) return chunk_is_missing(file_->id, n);
    size_t left = bytes_of_chunk(n, file_->length, file_->chunk_bytes);
    while (left > 0) {
      const size_t part = std::min(left, zeros().size());
      md5.update(zeros().first(part));
      left -= part;
    }
    return {};
  }

 private:
  const Bucket& bucket_;
  const bson::Document by_id_;
  std::unique_ptr<engine::Snapshot> snapshot_;
  std::chrono::steady_clock::time_point taken_;
  std::optional<FilesDocument> file_;
  std::optional<StoredChunks> chunks_;
  int64_t prefetched_ = 0;
};

}  // namespace

Result<StoredMd5> set_stored_md5(const Bucket& bucket, bson::ValueView id,
                                 const std::atomic<bool>& stop) {
  using Outcome = StoredMd5::Outcome;
  StoredMd5 result;
  int64_t length = 0;
  {
    Reading reading(bucket, id);
    GM_ASSIGN(const bool needed, reading.renew());
    if (!needed) return result;
    Md5 md5;
    for (int64_t n = 0; n < reading.file().chunk_count(); ++n) {
      if (stop) {
        result.outcome = Outcome::kStopped;
        return result;
      }
      if (reading.old()) {
        GM_ASSIGN(const bool same, reading.renew());
        if (!same) {
          result.outcome = Outcome::kChanged;
          return result;
        }
      }
      GM_TRY(reading.hash(n, md5));
    }
    length = reading.file().length;
    result.upload_date = reading.file().upload_date;
    result.md5 = md5.hex();
  }

  bson::Builder unchanged;
  unchanged.append_all(equals("_id", id));
  unchanged.append("uploadDate", result.upload_date).append("length", length);
  bson::Builder update;
  update.open_document("$set").append("md5", result.md5).close();
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, bucket.store().begin());
  GM_ASSIGN(const engine::UpdateResult updated,
            bucket.files().update(*transaction, std::move(unchanged).finish(),
                                  std::move(update).finish()));
  if (updated.matched == 0) {
    result.outcome = Outcome::kChanged;
    return result;
  }
  GM_TRY(transaction->commit());
  result.outcome = Outcome::kSet;
  return result;
}

}  // namespace gridmount::gridfs
