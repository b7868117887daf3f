#include "engine/local/files/pending_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "engine/checksum/crc32c.h"
#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

// The offsets within a record. All numbers are little-endian.
constexpr std::array<uint8_t, 4> kPendingMagic = {'G', 'M', 'P', '1'};
constexpr size_t kSize = 4;
constexpr size_t kSnapshot = 8;
constexpr size_t kIndex = 16;
constexpr size_t kId = 20;

struct Record {
  uint64_t snapshot = 0;
  uint32_t index = 0;
  LogId id{};
  std::string_view changes;
  size_t bytes = 0;
};

// Parses the record at the beginning of `bytes`, if there is one.
std::optional<Record> parse(std::span<const uint8_t> bytes) {
  if (bytes.size() < kPendingHeaderBytes + kPendingChecksumBytes) return std::nullopt;
  if (std::memcmp(bytes.data(), kPendingMagic.data(), kPendingMagic.size()) != 0)
    return std::nullopt;
  const size_t end = kPendingHeaderBytes + size_t{load<uint32_t>(bytes, kSize)};
  if (end + kPendingChecksumBytes > bytes.size()) return std::nullopt;
  if (crc32c(bytes.first(end)) != load<uint32_t>(bytes, end)) return std::nullopt;
  Record record;
  record.snapshot = load<uint64_t>(bytes, kSnapshot);
  record.index = load<uint32_t>(bytes, kIndex);
  record.id = load<LogId>(bytes, kId);
  record.changes = {reinterpret_cast<const char*>(bytes.data()) + kPendingHeaderBytes,
                    end - kPendingHeaderBytes};
  record.bytes = end + kPendingChecksumBytes;
  return record;
}

}  // namespace

void format_pending_record(const LogId& id, uint64_t snapshot, uint32_t index,
                           std::string_view changes, std::vector<uint8_t>& out) {
  const size_t start = out.size();
  const size_t end = kPendingHeaderBytes + changes.size();
  out.resize(start + end + kPendingChecksumBytes);
  const std::span<uint8_t> record = std::span(out).subspan(start);
  std::memcpy(record.data(), kPendingMagic.data(), kPendingMagic.size());
  store(record, kSize, static_cast<uint32_t>(changes.size()));
  store(record, kSnapshot, snapshot);
  store(record, kIndex, index);
  store(record, kId, id);
  std::memcpy(record.data() + kPendingHeaderBytes, changes.data(), changes.size());
  store(record, end, crc32c(record.first(end)));
}

Result<PendingContents> read_pending(const system::File& file, uint64_t snapshot) {
  GM_ASSIGN(const std::vector<uint8_t> bytes,
            file.read(0, static_cast<size_t>(PendingFile::kBytes)));
  PendingContents contents;
  std::span<const uint8_t> rest = bytes;
  std::optional<LogId> id;
  const auto is_next = [&](const Record& record) {
    return record.snapshot == snapshot && record.index == contents.changes.size() &&
           (!id || record.id == *id);
  };
  while (const std::optional<Record> record = parse(rest)) {
    if (!is_next(*record)) break;
    id = record->id;
    contents.changes.emplace_back(record->changes);
    rest = rest.subspan(record->bytes);
  }
  // The records of a batch were written one after the other. A later record of the same batch
  // means that one before it is damaged.
  while (true) {
    const auto at =
        std::search(rest.begin(), rest.end(), kPendingMagic.begin(), kPendingMagic.end());
    if (at == rest.end()) return contents;
    rest = rest.subspan(static_cast<size_t>(at - rest.begin()));
    const std::optional<Record> record = parse(rest);
    if (record && record->snapshot == snapshot && record->index >= contents.changes.size() &&
        (!id || record->id == *id)) {
      contents.is_damaged = true;
      return contents;
    }
    rest = rest.subspan(1);
  }
}

Status PendingFile::clear() {
  if (!usable()) return {};
  const std::vector<uint8_t> zeros(kBytes);
  if (file_.write(0, zeros)) return {};
  // Remove the partly written file. It takes room that others may need, and may still hold records
  // of an earlier opening.
  const std::filesystem::path path = file_.path();
  *this = PendingFile();
  return system::remove_file(path);
}

void PendingFile::begin(uint64_t snapshot) {
  snapshot_ = snapshot;
  count_ = 0;
  end_ = 0;
}

bool PendingFile::append(std::string_view changes) {
  const uint64_t bytes = kPendingHeaderBytes + changes.size() + kPendingChecksumBytes;
  if (!usable() || bytes + kPendingEndBytes > kBytes - end_) return false;
  try {
    record_.clear();
    format_pending_record(id_, snapshot_, count_, changes, record_);
    record_.resize(record_.size() + kPendingEndBytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!file_.write(end_, record_)) {
    *this = PendingFile();
    return false;
  }
  ++count_;
  end_ += bytes;
  return true;
}

}  // namespace gridmount::local
