// Writes the file `redo`, which is the log. It has two segments, which are filled alternately.
// FORMAT.md, chapter "redo". The D numbers are the invariants of its chapter "Durability".
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/redo_record.h"
#include "engine/system/file.h"

namespace gridmount::local {

class RedoFile {
 public:
  // For a store without a log. Has no room for any record.
  RedoFile() = default;
  // `id` must be newly drawn. Therefore records that the file already holds do not matter.
  RedoFile(system::File file, const LogId& id) : file_(std::move(file)), id_(id) {}

  // Gives the file the size `bytes`, at most kRedoBytesMax, with allocated blocks. The old contents
  // may be lost. If the disk has no room, closes the file, so that it has no room for any record.
  // Fails only if a sync fails.
  Status prepare(uint64_t bytes);

  // Returns where to write a record of this size, or nothing if there is no room before the next
  // checkpoint. `checkpointed` is the transaction of the newest synced slot (D11).
  struct Extent {
    size_t segment = 0;
    uint64_t offset = 0;  // within the segment
  };
  std::optional<Extent> reserve(uint64_t record_bytes, uint64_t checkpointed) const;

  struct Failure {
    Error error;
    bool sync;  // true: the sync failed; false: the write failed
  };
  // Writes a record of these transactions at a place that reserve() returned, and syncs the
  // file. Crash tests set `syncs` to false. Must not be called again after a failed sync (D8).
  std::optional<Failure> append(const Extent& extent,
                                const std::list<RedoTransaction>& transactions, bool syncs);

  // The segment that was written last.
  size_t current() const { return current_; }
  bool is_open() const { return file_.is_open(); }
  // From then on there is no room for any record.
  void close() { *this = RedoFile(); }

 private:
  struct Segment {
    uint64_t end = 0;               // where its last record ends
    uint64_t last_transaction = 0;  // the last one that it holds
  };

  system::File file_;
  LogId id_{};
  uint64_t segment_bytes_ = 0;
  std::array<Segment, 2> segments_;
  size_t current_ = 0;
  uint64_t records_ = 0;         // how many were written, which is also the last one's number
  std::vector<uint8_t> record_;  // the last record; a member to reuse its memory
  bool sync_failed_ = false;     // a sync in append() failed
};

}  // namespace gridmount::local
