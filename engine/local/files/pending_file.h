// Writes and reads the file `pending`. It has the changes of transactions that are committed as
// part of a batch, but that LMDB has not committed yet (batch.h). Therefore a kill of the process
// loses none of these transactions. See FORMAT.md, chapter "pending". The D numbers are the
// invariants of FORMAT.md's chapter "Durability".
//
// The file is never synced, and it is not trusted after a power loss.
//
// Not thread-safe. Only the holder of the write lock uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/redo_record.h"
#include "engine/system/file.h"

namespace gridmount::local {

inline constexpr size_t kPendingHeaderBytes = 36;
inline constexpr size_t kPendingChecksumBytes = 4;
// The number of zeros after the last record. They end the records, so that bytes of an earlier
// batch are not read as the next record of this batch.
inline constexpr size_t kPendingEndBytes = 4;

// Appends to `out` the record of one transaction's changes (RedoChanges::bytes()). The transaction
// is number `index`, from 0, of the batch that began from `snapshot`.
void format_pending_record(const LogId& id, uint64_t snapshot, uint32_t index,
                           std::string_view changes, std::vector<uint8_t>& out);

struct PendingContents {
  std::vector<std::string> changes;  // one element for each transaction
  // A later record of the batch is valid, but one before it is not. No kill causes this, so the
  // file is damaged.
  bool is_damaged = false;
};
// Reads the batch that began from `snapshot`. The result has no changes if the file has no records
// of this batch. Fails with the errors of system::File::read().
Result<PendingContents> read_pending(const system::File& file, uint64_t snapshot);

class PendingFile {
 public:
  // The size of the file.
  static constexpr uint64_t kBytes = uint64_t{128} << 10;

  // Makes an object for a store without this file. It is never usable().
  PendingFile() = default;
  // `id` must be a new result of draw_log_id(), so that no bytes of a user's document can look like
  // a record.
  PendingFile(system::File file, const LogId& id) : file_(std::move(file)), id_(id) {}

  // Fills the file with zeros, which allocates its blocks and removes all records (D14). If that
  // fails, because the disk is full for example, deletes the file and makes this object unusable.
  // Fails only if the file cannot be deleted either.
  Status clear();
  bool usable() const { return file_.is_open(); }

  // Begins a batch from this snapshot. The next record overwrites the first one.
  void begin(uint64_t snapshot);
  // Writes a record of the next transaction's changes. Must be called after begin(). Returns false
  // if the record does not fit in the file, if memory is short, or if the write fails. A failed
  // write makes this object unusable.
  bool append(std::string_view changes);
  // Returns how many records of the batch append() has written. After a failed write, returns 0.
  uint32_t count() const { return count_; }

 private:
  system::File file_;
  LogId id_{};
  uint64_t snapshot_ = 0;
  uint32_t count_ = 0;  // the number of the batch's records
  uint64_t end_ = 0;
  std::vector<uint8_t> record_;  // the last record; a member to reuse its memory
};

}  // namespace gridmount::local
