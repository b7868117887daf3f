// The records of the file `redo`, and which of them count. FORMAT.md, chapter "redo"; D numbers are
// the invariants of its chapter "Durability".
//
// Thread-safety: functions without state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/redo_changes.h"
#include "engine/system/file.h"

namespace gridmount::local {

inline constexpr size_t kRedoBlockBytes = 4096;
inline constexpr size_t kRedoTransactionHeaderBytes = 4;
// What a log usually takes on the disk, and what it takes at most: a larger file was not made so.
inline constexpr uint64_t kRedoBytes = uint64_t{4} << 20;
inline constexpr uint64_t kRedoBytesMax = uint64_t{64} << 20;

using LogId = std::array<uint8_t, 16>;
Result<LogId> draw_log_id();

// A transaction that was committed, or one of those that LMDB commits as one (batch.h): these
// follow one another with the same number.
struct RedoTransaction {
  uint64_t number = 0;  // LMDB's
  RedoChanges changes;
};

// Where a record is written in its file's two halves. A file that is larger than a log can be is
// taken for one of the usual size that something was put behind.
struct RedoSegments {
  uint64_t bytes_each = 0;  // 0: the file is too small
  static RedoSegments of(uint64_t file_bytes);
};

// What a record of them takes, blocks filled up.
uint64_t redo_record_bytes(const std::list<RedoTransaction>& transactions);
// The record, in place of what `out` holds; its memory is kept. `continues`: the first transaction
// has the number of the last one of the record before.
void format_redo_record(const LogId& id, uint64_t number, bool continues,
                        const std::list<RedoTransaction>& transactions, std::vector<uint8_t>& out);

struct RedoRecord {
  uint64_t number = 0;
  bool continues = false;
  uint64_t first_transaction = 0;
  std::vector<std::string_view> transactions;  // the changes of each number
  uint64_t bytes = 0;                          // blocks filled up
};
// The one that `bytes` begins with, if it is one. Views into `bytes`. `id` null: of any log.
std::optional<RedoRecord> parse_redo_record(std::span<const uint8_t> bytes, const LogId* id);

struct RedoContents {
  // Of the transactions behind the snapshot, in order, none missing.
  std::vector<std::string> changes;
  // There are records behind them that followed others, which were synced (D9) and are not to be
  // read any more: no crash does that.
  bool is_damaged = false;
};
// What counts of the file for a snapshot. `id` null, of any log, and `in_order` false are for the
// crash tests.
Result<RedoContents> read_redo(const system::File& file, const LogId* id, uint64_t snapshot,
                               bool in_order = true);

}  // namespace gridmount::local
