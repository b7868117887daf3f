// The file `checkpoint`. It has two slots. Each holds the meta pages of a durable snapshot and the
// id of the log whose records may follow that snapshot. FORMAT.md, chapter "checkpoint".
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/base/error.h"
#include "engine/local/files/meta_page.h"
#include "engine/local/files/redo_record.h"
#include "engine/system/file.h"

namespace gridmount::local {

inline constexpr size_t kSlotBytes = 4096;

class CheckpointFile {
 public:
  // Creates the file in its full size with both slots empty, and syncs it. The caller must sync the
  // folder.
  static Result<CheckpointFile> create(const std::filesystem::path& path);
  // Opens the file and reads its slots. Contents that are no valid slots are not an error: see
  // newest().
  static Result<CheckpointFile> open(const std::filesystem::path& path, bool read_only);

  // The valid slot with the highest sequence number, if any slot is valid.
  const std::optional<MetaPair>& newest() const { return newest_; }
  // The log id of newest(). Nothing if no log can follow that slot (format version 1).
  const std::optional<LogId>& newest_log() const { return newest_log_; }

  // Sets the log id of all slots that write() writes from here on. Without this call they have
  // none.
  void begin_log(const LogId& id) { log_ = id; }

  struct Failure {
    Error error;
    bool sync;  // true: the sync failed; false: the write failed
  };
  // Writes the meta pages to the slot that does not hold newest(), and syncs the file (invariant
  // D3). Their snapshot must be durable in data.mdb. On success they are newest(). Must not be
  // called again after a failed sync (D8).
  std::optional<Failure> write(const MetaPair& pair);
  // Writes newest() to its slot again and syncs the file. If the last owner was killed or its sync
  // failed, the slot may be in the kernel's memory only.
  Status confirm();

 private:
  explicit CheckpointFile(system::File file) : file_(std::move(file)) {}
  Status read_slots();

  system::File file_;
  uint64_t sequence_ = 0;  // the number of newest(); a slot's place is its number modulo 2
  std::optional<MetaPair> newest_;
  std::optional<LogId> newest_log_;
  std::optional<LogId> log_;  // the log id of the next slot that is written
  bool sync_failed_ = false;  // a sync in write() failed
};

}  // namespace gridmount::local
