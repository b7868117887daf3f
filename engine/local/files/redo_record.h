// Writes and parses the records of the file `redo`, and decides which records count. See FORMAT.md,
// chapter "redo". The D numbers are the invariants of FORMAT.md's chapter "Durability".
//
// Thread-safety: functions without state, and plain values.
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
// The default size of the file, and the largest size that a user may choose.
inline constexpr uint64_t kRedoBytes = uint64_t{4} << 20;
inline constexpr uint64_t kRedoBytesMax = uint64_t{64} << 20;

using LogId = std::array<uint8_t, 16>;
// Returns a new random id.
Result<LogId> draw_log_id();

// A committed transaction. Transactions that LMDB commits together as a batch (batch.h) have the
// same number and follow one another.
struct RedoTransaction {
  uint64_t number = 0;  // the number of LMDB's transaction
  RedoChanges changes;
};

// The size of each of the file's two segments. No program makes a file larger than kRedoBytesMax.
// If a file is larger, something was appended to it. It then has the segments of a file of the
// default size.
struct RedoSegments {
  uint64_t bytes_each = 0;  // 0: the file is too small
  static RedoSegments of(uint64_t file_bytes);
};

// Returns the size in bytes of a record of these transactions, rounded up to whole blocks.
uint64_t redo_record_bytes(const std::list<RedoTransaction>& transactions);
// Writes a record of `transactions`, of which there must be at least one, to `out`. Replaces the
// contents of `out`, and reuses its memory. `number` is the number of the record in the log.
// `continues` says that the first transaction has the same number as the last transaction of the
// previous record.
void format_redo_record(const LogId& id, uint64_t number, bool continues,
                        const std::list<RedoTransaction>& transactions, std::vector<uint8_t>& out);

struct RedoRecord {
  uint64_t number = 0;
  bool continues = false;
  uint64_t first_transaction = 0;
  // The changes of each transaction number, from first_transaction on.
  std::vector<std::string_view> transactions;
  uint64_t bytes = 0;  // the record's size, rounded up to whole blocks
};
// Parses the record at the beginning of `bytes`. Returns nothing if there is no whole record with a
// correct checksum. The views in the result are parts of `bytes`. If `id` is null, accepts a record
// of any log.
std::optional<RedoRecord> parse_redo_record(std::span<const uint8_t> bytes, const LogId* id);

struct RedoContents {
  // The changes of each transaction after the snapshot, in order and without a gap.
  std::vector<std::string> changes;
  // True if the file has valid records after a gap, with transactions after the snapshot. The
  // missing records were synced before these records (D9), and no crash destroys a synced record,
  // so the file is damaged.
  bool is_damaged = false;
};
// Returns the transactions that must be replayed after the snapshot. `snapshot` is the number of
// the last transaction that the snapshot has. Fails as File::read() does. Only crash tests pass a
// null `id`, which accepts records of any log, or false for `in_order`, which accepts records and
// transactions whatever their numbers.
Result<RedoContents> read_redo(const system::File& file, const LogId* id, uint64_t snapshot,
                               bool in_order = true);

}  // namespace gridmount::local
