// The file `pending`: what transactions have changed that LMDB has not committed yet (batch.h), so
// that a kill of the process loses none of them. FORMAT.md, chapter "pending"; D numbers are the
// invariants of its chapter "Durability".
//
// It is never synced: after a power loss it is not believed.
//
// Thread-safety: none; belongs to whoever has the writers' turn.
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
// Behind the last record, so that what an earlier batch has left there is none.
inline constexpr size_t kPendingEndBytes = 4;

// One transaction's changes (RedoChanges::bytes()), the `index`th behind the snapshot `snapshot`.
// Appends the record to `out`.
void format_pending_record(const LogId& id, uint64_t snapshot, uint32_t index,
                           std::string_view changes, std::vector<uint8_t>& out);

struct PendingContents {
  std::vector<std::string> changes;  // transaction by transaction
  // There are records behind them that cannot be reached: no kill does that.
  bool is_damaged = false;
};
// What the file has for that snapshot.
Result<PendingContents> read_pending(const system::File& file, uint64_t snapshot);

class PendingFile {
 public:
  static constexpr uint64_t kBytes = uint64_t{128} << 10;

  // For a store without one: never usable.
  PendingFile() = default;
  // `id` is a new one: what is in a user's document can be no record of it.
  PendingFile(system::File file, const LogId& id) : file_(std::move(file)), id_(id) {}

  // Has the file take its room on the disk, without any record (D14). Where there is no room for
  // it, there is no file and this is not usable; an error is that it could not be removed either.
  Status clear();
  bool usable() const { return file_.is_open(); }

  // Records of transactions behind that snapshot follow.
  void begin(uint64_t snapshot);
  // False: there is no room for these, or they could not be written. Then it is not usable any
  // more.
  bool append(std::string_view changes);

 private:
  system::File file_;
  LogId id_{};
  uint64_t snapshot_ = 0;
  uint32_t count_ = 0;  // of records behind it
  uint64_t end_ = 0;
  std::vector<uint8_t> record_;  // the last
};

}  // namespace gridmount::local
