#include "gridfs/bucket/download_stream.h"

#include <algorithm>

#include "engine/bson/json.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/bucket/zeros.h"

namespace gridmount::gridfs {
namespace {

constexpr int64_t kPrefetchBytes = 4 * 1024 * 1024;

class BucketDownloadStream final : public DownloadStream {
 public:
  BucketDownloadStream(const Bucket& bucket, std::unique_ptr<engine::Snapshot> snapshot,
                       FilesDocument file, ByteRange range)
      : file_(std::move(file)),
        snapshot_(std::move(snapshot)),
        chunks_(bucket.chunks(), file_.id, file_.chunk_bytes, StoredChunks::Valid::kLast),
        at_(range.start),
        end_(range.end) {}

  const FilesDocument& file() const override { return file_; }

  Result<std::span<const uint8_t>> read(size_t max) override {
    if (at_ == end_ || max == 0) return std::span<const uint8_t>();
    const int64_t n = at_ / file_.chunk_bytes;
    if (n != current_) GM_TRY(load(n));
    const auto within = static_cast<size_t>(at_ - n * file_.chunk_bytes);
    size_t size = std::min<size_t>(max, static_cast<size_t>(end_ - at_));
    if (hole_) {
      size = std::min({size, static_cast<size_t>(file_.chunk_bytes) - within, zeros().size()});
      at_ += static_cast<int64_t>(size);
      return zeros().first(size);
    }
    size = std::min(size, content_.size() - within);
    at_ += static_cast<int64_t>(size);
    return content_.subspan(within, size);
  }

 private:
  Status load(int64_t n) {
    const int64_t chunks_ahead = std::max<int64_t>(kPrefetchBytes / file_.chunk_bytes, 1);
    if (n >= prefetched_) {
      const int64_t last =
          std::min(n + 1 + chunks_ahead, (end_ + file_.chunk_bytes - 1) / file_.chunk_bytes);
      chunks_.prefetch(*snapshot_, n + 1, last);
      // The next prefetch is due when half of this one is consumed.
      prefetched_ = n + 1 + chunks_ahead / 2;
    }
    GM_ASSIGN(const std::optional<StoredChunks::Chunk> chunk,
              chunks_.find(*snapshot_, n, file_.length, StoredChunks::Verify::kChecksum));
    if (!chunk && !file_.sparse) return chunk_is_missing(file_.id, n);
    hole_ = !chunk;
    content_ = chunk ? chunk->content : std::span<const uint8_t>();
    current_ = n;
    return {};
  }

  const FilesDocument file_;
  const std::unique_ptr<engine::Snapshot> snapshot_;
  StoredChunks chunks_;
  int64_t at_;
  const int64_t end_;
  int64_t current_ = -1;  // the chunk described by content_ or hole_
  std::span<const uint8_t> content_;
  bool hole_ = false;
  int64_t prefetched_ = 0;
};

}  // namespace

Result<std::unique_ptr<DownloadStream>> make_download_stream(
    const Bucket& bucket, std::unique_ptr<engine::Snapshot> snapshot, FilesDocument file,
    std::optional<ByteRange> range) {
  const ByteRange wanted = range.value_or(ByteRange{0, file.length});
  if (wanted.start < 0 || wanted.start > wanted.end || wanted.end > file.length) {
    return fail(kInvalidRange, "the file with _id " +
                                   bson::to_json(file.id, bson::JsonForm::kRelaxed) + " has " +
                                   std::to_string(file.length) + " bytes; the range [" +
                                   std::to_string(wanted.start) + ", " +
                                   std::to_string(wanted.end) + ") is not within the file");
  }
  return std::unique_ptr<DownloadStream>(
      std::make_unique<BucketDownloadStream>(bucket, std::move(snapshot), std::move(file), wanted));
}

}  // namespace gridmount::gridfs
