#include "engine/local/files/redo_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "engine/base/invariant.h"

namespace gridmount::local {

Status RedoFile::prepare(uint64_t bytes) {
  constexpr uint64_t kWrittenAtOnce = uint64_t{1} << 20;
  if (!is_open()) return {};
  bytes = std::min(bytes, kRedoBytesMax);
  const Result<uint64_t> size = file_.size();
  if (!size) {
    close();
    return {};
  }
  segment_bytes_ = RedoSegments::of(bytes).bytes_each;
  if (*size < bytes) {
    // Write zeros, because later syncs would write metadata about blocks that are only allocated.
    const std::vector<uint8_t> zeros(std::min(bytes, kWrittenAtOnce));
    for (uint64_t at = 0; at < bytes; at += zeros.size()) {
      const auto part = std::span(zeros).first(std::min<uint64_t>(zeros.size(), bytes - at));
      if (!file_.write(at, part)) {
        // Release the partly written file's blocks, which others may need.
        (void)file_.resize(0);
        close();
        return {};
      }
    }
    return file_.sync_data();
  }
  if (*size > bytes) {
    if (!file_.resize(bytes)) {
      close();
      return {};
    }
    // Readers compute the segments from the file's size, so the new size must be durable.
    GM_TRY(file_.sync_data());
  }
  // In a copy of a store, the file may have holes, so allocate them. If the file system cannot
  // allocate them, they stay: posix_fallocate(3) would write a byte of each block.
  const int code = ::fallocate(file_.fd(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  if (code == ENOSPC || code == EDQUOT) close();
  return {};
}

// Upholds D11.
std::optional<RedoFile::Extent> RedoFile::reserve(uint64_t record_bytes,
                                                  uint64_t checkpointed) const {
  if (record_bytes > segment_bytes_) return std::nullopt;
  const Segment& segment = segments_[current_];
  if (record_bytes <= segment_bytes_ - segment.end) return Extent{current_, segment.end};
  if (segments_[1 - current_].last_transaction <= checkpointed) return Extent{1 - current_, 0};
  return std::nullopt;
}

std::optional<RedoFile::Failure> RedoFile::append(const Extent& extent,
                                                  const std::list<RedoTransaction>& transactions,
                                                  bool syncs) {
  GM_INVARIANT("D8", !sync_failed_, file_.path().string());
  const bool continues = segments_[current_].last_transaction == transactions.front().number;
  format_redo_record(id_, records_ + 1, continues, transactions, record_);
  GM_INVARIANT("D11",
               extent.offset == (extent.segment == current_ ? segments_[current_].end : 0) &&
                   extent.offset + record_.size() <= segment_bytes_,
               "record " + std::to_string(records_ + 1) + " of the log");
  if (Status status = file_.write(extent.segment * segment_bytes_ + extent.offset, record_);
      !status) {
    return Failure{std::move(status).error(), false};
  }
  if (syncs) {
    if (Status status = file_.sync_data(); !status) {
      sync_failed_ = true;
      return Failure{std::move(status).error(), true};
    }
  }
  ++records_;
  current_ = extent.segment;
  segments_[current_] = {extent.offset + record_.size(), transactions.back().number};
  return std::nullopt;
}

}  // namespace gridmount::local
