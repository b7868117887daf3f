#include "engine/local/files/checkpoint_file.h"

#include <fcntl.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/invariant.h"
#include "engine/checksum/crc32c.h"

namespace gridmount::local {
namespace {

// The offsets within a slot. All numbers are little-endian.
constexpr std::array<uint8_t, 8> kSlotMagic = {'G', 'M', 'C', 'H', 'E', 'C', 'K', '2'};
constexpr std::array<uint8_t, 8> kSlotMagicWithoutLog = {'G', 'M', 'C', 'H', 'E', 'C', 'K', '1'};
constexpr size_t kSequence = 8;
constexpr size_t kFirstMeta = 16;
constexpr size_t kSecondMeta = kFirstMeta + kMetaBytes;
constexpr size_t kSlotLogId = kSecondMeta + kMetaBytes;  // the checksum, if the slot has no log id
constexpr size_t kSlotUsedBytes = kSlotLogId + std::tuple_size_v<LogId> + 4;
// A slot fits in one sector. Most disks write a sector whole or not at all, which makes torn slots
// rarer but not impossible.
static_assert(kSlotUsedBytes <= 512);

struct Slot {
  uint64_t sequence = 0;
  MetaPair pair;
  std::optional<LogId> log;
};

std::optional<Slot> parse_slot(std::span<const uint8_t> bytes) {
  if (bytes.size() < kSlotUsedBytes) return std::nullopt;
  const auto is = [&](const auto& magic) {
    return std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
  };
  Slot slot;
  if (is(kSlotMagic)) {
    slot.log.emplace();
    std::memcpy(slot.log->data(), bytes.data() + kSlotLogId, slot.log->size());
  } else if (!is(kSlotMagicWithoutLog)) {
    return std::nullopt;
  }
  const size_t covered = kSlotLogId + (slot.log ? slot.log->size() : 0);
  uint32_t checksum;
  std::memcpy(&checksum, bytes.data() + covered, sizeof checksum);
  if (crc32c(bytes.first(covered)) != checksum) return std::nullopt;
  std::memcpy(&slot.sequence, bytes.data() + kSequence, sizeof slot.sequence);
  std::array<MetaBytes, 2> metas;
  std::memcpy(metas[0].data(), bytes.data() + kFirstMeta, kMetaBytes);
  std::memcpy(metas[1].data(), bytes.data() + kSecondMeta, kMetaBytes);
  Result<MetaPair> pair = parse_meta_pair(metas);
  if (!pair) return std::nullopt;
  slot.pair = *pair;
  return slot;
}

std::vector<uint8_t> slot_bytes(uint64_t sequence, const MetaPair& pair,
                                const std::optional<LogId>& log) {
  std::vector<uint8_t> bytes(kSlotUsedBytes);
  const auto& magic = log ? kSlotMagic : kSlotMagicWithoutLog;
  std::memcpy(bytes.data(), magic.data(), magic.size());
  std::memcpy(bytes.data() + kSequence, &sequence, sizeof sequence);
  std::memcpy(bytes.data() + kFirstMeta, pair.bytes[0].data(), kMetaBytes);
  std::memcpy(bytes.data() + kSecondMeta, pair.bytes[1].data(), kMetaBytes);
  if (log) std::memcpy(bytes.data() + kSlotLogId, log->data(), log->size());
  const size_t covered = kSlotLogId + (log ? log->size() : 0);
  const uint32_t checksum = crc32c(std::span(bytes).first(covered));
  std::memcpy(bytes.data() + covered, &checksum, sizeof checksum);
  return bytes;
}

}  // namespace

Result<CheckpointFile> CheckpointFile::create(const std::filesystem::path& path) {
  GM_ASSIGN(system::File file, system::File::open(path, O_RDWR | O_CREAT | O_TRUNC));
  // Writing zeros allocates the blocks, so that a full disk fails here and not at a checkpoint.
  GM_TRY(file.write(0, std::vector<uint8_t>(2 * kSlotBytes)));
  GM_TRY(file.sync_data());
  return CheckpointFile(std::move(file));
}

Result<CheckpointFile> CheckpointFile::open(const std::filesystem::path& path, bool read_only) {
  GM_ASSIGN(system::File file, system::File::open(path, read_only ? O_RDONLY : O_RDWR));
  CheckpointFile checkpoint(std::move(file));
  GM_TRY(checkpoint.read_slots());
  return checkpoint;
}

Status CheckpointFile::read_slots() {
  for (uint64_t i = 0; i < 2; ++i) {
    GM_ASSIGN(const std::vector<uint8_t> bytes, file_.read(i * kSlotBytes, kSlotUsedBytes));
    const std::optional<Slot> slot = parse_slot(bytes);
    if (!slot || slot->sequence % 2 != i) continue;
    if (newest_ && slot->sequence < sequence_) continue;
    newest_ = slot->pair;
    newest_log_ = slot->log;
    sequence_ = slot->sequence;
  }
  return {};
}

Status CheckpointFile::confirm() {
  if (!newest_) return {};
  const uint64_t offset = sequence_ % 2 * kSlotBytes;
  GM_TRY(file_.write(offset, slot_bytes(sequence_, *newest_, newest_log_)));
  return file_.sync_data();
}

std::optional<CheckpointFile::Failure> CheckpointFile::write(const MetaPair& pair) {
  GM_INVARIANT("D3", !newest_ || pair.current.txn >= newest_->current.txn,
               "a slot of transaction " + std::to_string(pair.current.txn));
  GM_INVARIANT("D8", !sync_failed_, file_.path().string());
  const uint64_t sequence = sequence_ + 1;
  const uint64_t offset = sequence % 2 * kSlotBytes;
  if (Status status = file_.write(offset, slot_bytes(sequence, pair, log_)); !status) {
    return Failure{std::move(status).error(), false};
  }
  if (Status status = file_.sync_data(); !status) {
    sync_failed_ = true;
    return Failure{std::move(status).error(), true};
  }
  sequence_ = sequence;
  newest_ = pair;
  newest_log_ = log_;
  return std::nullopt;
}

}  // namespace gridmount::local
