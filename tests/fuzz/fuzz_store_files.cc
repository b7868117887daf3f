// Fuzzes the files of a store that are read before LMDB opens `data.mdb`: `redo`, `pending`,
// `checkpoint` and `owner`. The input is a list of instructions that build their contents: valid
// records, with any bytes changed, and with a right or wrong checksum. Reading them must never end
// the process. The valid transactions of a log must not have more bytes than the log.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "engine/checksum/crc32c.h"
#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/files/redo_record.h"

using namespace gridmount;
using namespace gridmount::local;

namespace {

constexpr LogId kId = {1, 2, 3};
constexpr uint64_t kSnapshot = 7;

class Instructions {
 public:
  Instructions(const uint8_t* data, size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  uint8_t next() {
    if (rest_.empty()) return 0;
    const uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }

 private:
  std::span<const uint8_t> rest_;
};

// Returns the path of a file in memory with these bytes. All inputs use the same file.
std::string path_of(std::span<const uint8_t> bytes) {
  static const int kFile = ::memfd_create("store_file", 0);
  if (kFile < 0 || ::ftruncate(kFile, 0) != 0 ||
      ::pwrite(kFile, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    abort();
  }
  return "/proc/self/fd/" + std::to_string(kFile);
}

system::File file_of(std::span<const uint8_t> bytes) {
  Result<system::File> file = system::File::open(path_of(bytes), O_RDONLY);
  if (!file) abort();
  return *std::move(file);
}

RedoChanges changes_of(Instructions& from) {
  RedoChanges changes;
  changes.put(from.next(), "key" + std::to_string(from.next()), std::string(from.next() * 20, 'v'));
  changes.flush();
  return changes;
}

// Changes the record. Mostly corrects the checksum of everything before the last four bytes.
void change(std::span<uint8_t> record, size_t checksum_at, Instructions& from) {
  for (uint8_t left = from.next() % 4; left > 0; --left) {
    const size_t at = (size_t{from.next()} << 8 | from.next()) % record.size();
    record[at] = from.next();
  }
  if (from.next() % 4 == 0) return;
  const uint32_t checksum = crc32c(record.first(checksum_at));
  std::memcpy(record.data() + checksum_at, &checksum, sizeof checksum);
}

void check_counted(const std::vector<std::string>& counted, const std::string& written) {
  // The bytes of each valid transaction must come from the file, so all of them together fit into
  // it.
  size_t bytes = 0;
  for (const std::string& changes : counted) bytes += changes.size();
  if (bytes > written.size()) abort();
}

void read_log(Instructions& from) {
  constexpr size_t kBlocks = 16;
  std::vector<uint8_t> bytes(kBlocks * kRedoBlockBytes);
  size_t at = 0;
  uint64_t transaction = kSnapshot + 1;
  std::vector<uint8_t> record;
  for (uint64_t number = 1; !from.empty(); ++number) {
    std::list<RedoTransaction> transactions;
    const bool continues = from.next() % 3 == 0;
    if (continues && transaction > 0) --transaction;
    for (uint8_t left = 1 + from.next() % 3; left > 0; --left) {
      transactions.push_back({transaction, changes_of(from)});
      transaction += from.next() % 4 == 0 ? 0 : 1;
    }
    format_redo_record(kId, number + from.next() % 16 / 15, continues, transactions, record);
    uint32_t transactions_bytes = 0;
    std::memcpy(&transactions_bytes, record.data() + 44, sizeof transactions_bytes);
    change(record, 48 + transactions_bytes, from);
    if (at + record.size() > bytes.size()) break;
    std::copy(record.begin(), record.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += record.size();
    if (from.next() % 8 == 0) at = bytes.size() / 2;
    if (at >= bytes.size()) break;
  }
  const system::File file = file_of(bytes);
  for (const uint64_t snapshot : {uint64_t{0}, kSnapshot, kSnapshot + 2, UINT64_MAX}) {
    const Result<RedoContents> contents = read_redo(file, &kId, snapshot);
    if (!contents) abort();
    check_counted(contents->changes, std::string(bytes.begin(), bytes.end()));
  }
}

void read_batch(Instructions& from) {
  std::vector<uint8_t> bytes;
  for (uint32_t index = 0; !from.empty(); ++index) {
    const size_t begin = bytes.size();
    format_pending_record(kId, kSnapshot + from.next() % 8 / 7, index + from.next() % 8 / 7,
                          changes_of(from).bytes(), bytes);
    const auto record = std::span(bytes).subspan(begin);
    change(record, record.size() - kPendingChecksumBytes, from);
  }
  const Result<PendingContents> contents = read_pending(file_of(bytes), kSnapshot);
  if (!contents) abort();
  check_counted(contents->changes, std::string(bytes.begin(), bytes.end()));
}

void read_slots(Instructions& from) {
  std::vector<uint8_t> bytes(2 * kSlotBytes);
  constexpr size_t kChecksum = 336;
  for (const size_t slot : {size_t{0}, kSlotBytes}) {
    const auto record = std::span(bytes).subspan(slot, kChecksum + 4);
    std::memcpy(record.data(), "GMCHECK2", 8);
    for (size_t i = 8; i < kChecksum && !from.empty(); ++i) record[i] = from.next();
    change(record, kChecksum, from);
  }
  const Result<CheckpointFile> file = CheckpointFile::open(path_of(bytes), true);
  if (file && file->newest() && file->newest()->current.txn < file->newest()->previous_txn) abort();
}

void read_mark(Instructions& from) {
  std::string text = format_owner_mark(
      {.state = OwnerState::kOpen, .pid = 12, .host = "host", .boot_id = "boot", .data_inode = 34});
  while (!from.empty()) {
    const size_t at = (size_t{from.next()} << 8 | from.next()) % text.size();
    text[at] = static_cast<char>(from.next());
  }
  const std::optional<OwnerMark> mark = parse_owner_mark(text);
  if (mark && !parse_owner_mark(format_owner_mark(*mark))) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Instructions from(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      read_log(from);
      break;
    case 1:
      read_batch(from);
      break;
    case 2:
      read_slots(from);
      break;
    default:
      read_mark(from);
  }
  return 0;
}
