// Writes the file `redo`, which is the log. The file has two segments, which are filled in turn.
// See FORMAT.md, chapter "redo". The D numbers are the invariants of FORMAT.md's chapter
// "Durability".
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
  // Makes an object for a store without a log. It has no room for any record.
  RedoFile() = default;
  // `id` must be a new result of draw_log_id(), so that the records that the file already has do
  // not count.
  RedoFile(system::File file, const LogId& id) : file_(std::move(file)), id_(id) {}

  // Gives the file the size `bytes`, at most kRedoBytesMax, with allocated blocks. If the file has
  // holes that the file system cannot allocate, the holes stay. The old contents may be lost. If
  // the disk is full or the file cannot be written, closes the file, so that this object has no
  // room for any record. Fails only if a sync fails.
  Status prepare(uint64_t bytes);

  // Returns the place for a record of this size, or nothing if the file has no room for it before
  // the next checkpoint. `checkpointed` is the transaction of the newest synced slot (D11).
  struct Extent {
    size_t segment = 0;
    uint64_t offset = 0;  // within the segment
  };
  std::optional<Extent> reserve(uint64_t record_bytes, uint64_t checkpointed) const;

  struct Failure {
    Error error;
    bool sync;  // true: the sync failed; false: the write failed
  };
  // Writes a record of these transactions to `extent`, which reserve() has returned, and syncs the
  // file. Returns nothing if it succeeds. Crash tests set `syncs` to false. Must not be called
  // again after a failed sync (D8).
  std::optional<Failure> append(const Extent& extent,
                                const std::list<RedoTransaction>& transactions, bool syncs);

  // Returns the segment to which the last record was written.
  size_t current() const { return current_; }
  bool is_open() const { return file_.is_open(); }
  // Closes the file. From then on this object has no room for any record.
  void close() { *this = RedoFile(); }

 private:
  struct Segment {
    uint64_t end = 0;               // where its last record ends
    uint64_t last_transaction = 0;  // the last transaction of which the segment has a record
  };

  system::File file_;
  LogId id_{};
  uint64_t segment_bytes_ = 0;
  std::array<Segment, 2> segments_;
  size_t current_ = 0;
  uint64_t records_ = 0;         // how many records were written, which is also the number of the
                                 // last record
  std::vector<uint8_t> record_;  // the last record; a member to reuse its memory
  bool sync_failed_ = false;     // a sync in append() failed
};

}  // namespace gridmount::local
