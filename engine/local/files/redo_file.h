// The file `redo` as it is written: two segments, begun by turns. FORMAT.md, chapter "redo"; D
// numbers are the invariants of its chapter "Durability".
//
// Thread-safety: none; one thread at a time.
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
  // For a store without a log: has room for nothing.
  RedoFile() = default;
  // What is in the file from before is no matter: `id` is a new one.
  RedoFile(system::File file, const LogId& id) : file_(std::move(file)), id_(id) {}

  // Has the file take `bytes` of the disk, kRedoBytesMax at most. Where there is no room, there is
  // none for a record either; an error is one of a sync. What else it had is gone.
  Status prepare(uint64_t bytes);

  // Where a record of so many bytes goes. `checkpointed`: the newest synced slot's transaction.
  struct Place {
    size_t segment = 0;
    uint64_t offset = 0;  // within it
  };
  std::optional<Place> find_place(uint64_t record_bytes, uint64_t checkpointed) const;

  struct Failure {
    Error error;
    bool sync;  // it was the sync that failed
  };
  // Writes the record of these transactions there and syncs. `syncs` false is for the crash tests.
  std::optional<Failure> append(const Place& place, const std::list<RedoTransaction>& transactions,
                                bool syncs);

  // The segment that was written last.
  size_t current() const { return current_; }
  bool is_open() const { return file_.is_open(); }
  // From then on there is room for nothing.
  void close() { *this = RedoFile(); }

 private:
  struct Segment {
    uint64_t end = 0;               // of its last record
    uint64_t last_transaction = 0;  // that it has
  };

  system::File file_;
  LogId id_{};
  uint64_t segment_bytes_ = 0;
  std::array<Segment, 2> segments_;
  size_t current_ = 0;
  uint64_t records_ = 0;         // written; the number of the last
  std::vector<uint8_t> record_;  // the last
};

}  // namespace gridmount::local
