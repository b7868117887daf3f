#include "engine/local/files/redo_record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/checksum/crc32c.h"
#include "engine/local/format/raw_number.h"
#include "engine/system/random.h"

namespace gridmount::local {
namespace {

// The offsets within a record. All numbers are little-endian.
constexpr std::string_view kRedoMagic = "GMREDO01";
constexpr std::string_view kContinues = "GMREDO02";
constexpr size_t kRecordLogId = 8;
constexpr size_t kNumber = 24;
constexpr size_t kFirstTransaction = 32;
constexpr size_t kCount = 40;
constexpr size_t kBytes = 44;
constexpr size_t kTransactions = 48;
constexpr size_t kChecksumBytes = 4;

struct Size {
  uint32_t count = 0;  // of different transaction numbers
  size_t bytes = 0;
};

Size size_of(const std::list<RedoTransaction>& transactions) {
  Size size;
  uint64_t last = 0;
  for (const RedoTransaction& transaction : transactions) {
    if (transaction.number != last) {
      ++size.count;
      size.bytes += kRedoTransactionHeaderBytes;
    }
    size.bytes += transaction.changes.bytes().size();
    last = transaction.number;
  }
  return size;
}

uint64_t in_blocks(uint64_t bytes) {
  return (bytes + kRedoBlockBytes - 1) / kRedoBlockBytes * kRedoBlockBytes;
}

// One transaction of a record that read_redo() has found, with a copy of its changes.
struct FoundTransaction {
  uint64_t record = 0;
  uint64_t number = 0;
  bool continues = false;
  std::string changes;
};

// Implements step 1 of FORMAT.md's rule "Which records count", and step 2 for one segment.
void find_prefix(std::span<const uint8_t> segment, const LogId* id, uint64_t snapshot,
                 bool in_order, std::vector<FoundTransaction>& found) {
  std::optional<uint64_t> last;
  while (const std::optional<RedoRecord> record = parse_redo_record(segment, id)) {
    if (in_order && last && record->number != *last + 1) break;
    last = record->number;
    for (size_t i = 0; i < record->transactions.size(); ++i) {
      const uint64_t number = record->first_transaction + i;
      if (in_order && number <= snapshot) continue;
      found.push_back({record->number, number, i == 0 && record->continues,
                       std::string(record->transactions[i])});
    }
    segment = segment.subspan(static_cast<size_t>(record->bytes));
  }
}

// Looks at every block of the segment for a record with a transaction after the snapshot. Returns
// the highest number of such a record, or 0.
uint64_t last_needed_record(std::span<const uint8_t> segment, const LogId* id, uint64_t snapshot) {
  uint64_t last = 0;
  for (; segment.size() >= kRedoBlockBytes; segment = segment.subspan(kRedoBlockBytes)) {
    const std::optional<RedoRecord> record = parse_redo_record(segment, id);
    if (!record || record->first_transaction + record->transactions.size() <= snapshot + 1) {
      continue;
    }
    last = std::max(last, record->number);
  }
  return last;
}

}  // namespace

Result<LogId> draw_log_id() {
  return system::random_id();
}

RedoSegments RedoSegments::of(uint64_t file_bytes) {
  if (file_bytes > kRedoBytesMax) return of(kRedoBytes);
  return {file_bytes / (2 * kRedoBlockBytes) * kRedoBlockBytes};
}

uint64_t redo_record_bytes(const std::list<RedoTransaction>& transactions) {
  return in_blocks(kTransactions + size_of(transactions).bytes + kChecksumBytes);
}

void format_redo_record(const LogId& id, uint64_t number, bool continues,
                        const std::list<RedoTransaction>& transactions, std::vector<uint8_t>& out) {
  const Size size = size_of(transactions);
  out.assign(in_blocks(kTransactions + size.bytes + kChecksumBytes), 0);
  const std::string_view magic = continues ? kContinues : kRedoMagic;
  std::memcpy(out.data(), magic.data(), magic.size());
  std::memcpy(out.data() + kRecordLogId, id.data(), id.size());
  store(out, kNumber, number);
  store(out, kFirstTransaction, transactions.front().number);
  store(out, kCount, size.count);
  store(out, kBytes, static_cast<uint32_t>(size.bytes));
  size_t at = kTransactions;
  size_t header = 0;  // where the header of the last transaction number is
  uint64_t last = 0;
  for (const RedoTransaction& transaction : transactions) {
    if (transaction.number != last) {
      header = at;
      at += kRedoTransactionHeaderBytes;
    }
    const std::string& changes = transaction.changes.bytes();
    std::memcpy(out.data() + at, changes.data(), changes.size());
    at += changes.size();
    store(out, header, static_cast<uint32_t>(at - header - kRedoTransactionHeaderBytes));
    last = transaction.number;
  }
  store(out, at, crc32c(std::span(out).first(at)));
}

// Upholds D12: does not accept a record of another log.
std::optional<RedoRecord> parse_redo_record(std::span<const uint8_t> bytes, const LogId* id) {
  if (bytes.size() < kRedoBlockBytes) return std::nullopt;
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), kRedoMagic.size());
  if (magic != kRedoMagic && magic != kContinues) return std::nullopt;
  if (id != nullptr && std::memcmp(bytes.data() + kRecordLogId, id->data(), id->size()) != 0) {
    return std::nullopt;
  }
  const uint64_t end = kTransactions + uint64_t{load<uint32_t>(bytes, kBytes)};
  if (end + kChecksumBytes > bytes.size()) return std::nullopt;
  const auto covered = bytes.first(static_cast<size_t>(end));
  if (crc32c(covered) != load<uint32_t>(bytes, covered.size())) return std::nullopt;

  RedoRecord record;
  record.continues = magic == kContinues;
  record.number = load<uint64_t>(bytes, kNumber);
  record.first_transaction = load<uint64_t>(bytes, kFirstTransaction);
  record.bytes = in_blocks(end + kChecksumBytes);
  if (record.bytes > bytes.size()) return std::nullopt;
  const auto count = load<uint32_t>(bytes, kCount);
  std::span<const uint8_t> rest = covered.subspan(kTransactions);
  for (uint32_t i = 0; i < count; ++i) {
    if (rest.size() < kRedoTransactionHeaderBytes) return std::nullopt;
    const auto size = load<uint32_t>(rest, 0);
    rest = rest.subspan(kRedoTransactionHeaderBytes);
    if (rest.size() < size) return std::nullopt;
    record.transactions.emplace_back(reinterpret_cast<const char*>(rest.data()), size);
    rest = rest.subspan(size);
  }
  if (count == 0 || !rest.empty()) return std::nullopt;
  return record;
}

Result<RedoContents> read_redo(const system::File& file, const LogId* id, uint64_t snapshot,
                               bool in_order) {
  GM_ASSIGN(const uint64_t size, file.size());
  const uint64_t segment_bytes = RedoSegments::of(size).bytes_each;
  std::vector<FoundTransaction> found;
  uint64_t last_record = 0;  // the highest needed record in the file, reachable or not
  for (uint64_t i = 0; i < 2 && segment_bytes > 0; ++i) {
    GM_ASSIGN(const std::vector<uint8_t> segment,
              file.read(i * segment_bytes, static_cast<size_t>(segment_bytes)));
    find_prefix(segment, id, snapshot, in_order, found);
    last_record = std::max(last_record, last_needed_record(segment, id, snapshot));
  }
  if (size > kRedoBytesMax) {
    GM_ASSIGN(const std::vector<uint8_t> behind,
              file.read(kRedoBytes, static_cast<size_t>(kRedoBytesMax - kRedoBytes)));
    last_record = std::max(last_record, last_needed_record(behind, id, snapshot));
  }
  // Step 3 of FORMAT.md's rule. It relies on D10: the log has no gap.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.record < b.record; });
  RedoContents contents;
  uint64_t record = 0;
  for (FoundTransaction& transaction : found) {
    const uint64_t last = snapshot + contents.changes.size();
    const bool follows = transaction.number == (transaction.continues ? last : last + 1) &&
                         (record == 0 ? !transaction.continues : transaction.record - record <= 1);
    if (in_order && !follows) break;
    record = transaction.record;
    if (transaction.continues && !contents.changes.empty()) {
      contents.changes.back() += transaction.changes;
    } else {
      contents.changes.push_back(std::move(transaction.changes));
    }
  }
  contents.is_damaged = in_order && last_record > record;
  return contents;
}

}  // namespace gridmount::local
