// Reads and writes the file `checkpoint`, which has two slots. A slot has the meta pages of a
// durable snapshot, and the id of the log whose records may follow that snapshot. See FORMAT.md,
// chapter "checkpoint". The D numbers are the invariants of FORMAT.md's chapter "Durability".
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
  // Creates the file with its full size and two empty slots, and syncs it. The caller must sync the
  // folder.
  static Result<CheckpointFile> create(const std::filesystem::path& path);
  // Opens the file and reads its slots. An invalid slot is not an error: newest() ignores it.
  static Result<CheckpointFile> open(const std::filesystem::path& path, bool read_only);

  // Returns the valid slot with the highest sequence number, or nothing if no slot is valid.
  const std::optional<MetaPair>& newest() const { return newest_; }
  // Returns the log id of the slot newest(), or nothing if no log can follow that slot (format
  // version 1).
  const std::optional<LogId>& newest_log() const { return newest_log_; }

  // Sets the log id of the slots that later calls of write() write. Without this call they have no
  // log id.
  void begin_log(const LogId& id) { log_ = id; }

  struct Failure {
    Error error;
    bool sync;  // true: the sync failed; false: the write failed
  };
  // Writes the meta pages to the slot that is not newest(), and syncs the file (invariant D3). The
  // snapshot of these meta pages must be durable in data.mdb. After a success newest() returns
  // `pair`. Must not be called again after a failed sync (D8). Returns nothing if it succeeds.
  std::optional<Failure> write(const MetaPair& pair);
  // Writes newest() to its slot again, and syncs the file. This is necessary after the last owner
  // was killed or its sync failed, because the slot may then be only in the kernel's memory.
  Status confirm();

 private:
  explicit CheckpointFile(system::File file) : file_(std::move(file)) {}
  Status read_slots();

  system::File file_;
  uint64_t sequence_ = 0;  // the number of newest(); slot `number % 2` has it
  std::optional<MetaPair> newest_;
  std::optional<LogId> newest_log_;
  std::optional<LogId> log_;  // the log id of the next slot that is written
  bool sync_failed_ = false;  // a sync in write() failed
};

}  // namespace gridmount::local
