// The file `checkpoint`: two slots, each the meta pages of a durable snapshot, and which records of
// the log may follow it. FORMAT.md, chapter "checkpoint".
//
// Thread-safety: none; its owner writes it from one thread.
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
  // Makes the file with both slots empty, in its full size. The folder is for the caller to sync.
  static Result<CheckpointFile> create(const std::filesystem::path& path);
  // Any contents will do; see newest().
  static Result<CheckpointFile> open(const std::filesystem::path& path, bool read_only);

  // The valid slot with the highest sequence number, if any slot is valid.
  const std::optional<MetaPair>& newest() const { return newest_; }
  // Its log id; nothing where no log can follow it (format version 1).
  const std::optional<LogId>& newest_log() const { return newest_log_; }

  // All slots that are written from here on have this log id. Without this call they have none.
  void begin_log(const LogId& id) { log_ = id; }

  // Writes the pages to the slot that does not hold newest() and syncs (invariant D3). The snapshot
  // they belong to must be durable in data.mdb.
  struct Failure {
    Error error;
    bool sync;  // it was the sync that failed
  };
  std::optional<Failure> write(const MetaPair& pair);
  // Writes newest() again where it stands and syncs it: an owner that was killed, or whose sync
  // failed, has left it in the kernel, and maybe nowhere else.
  Status confirm();

 private:
  explicit CheckpointFile(system::File file) : file_(std::move(file)) {}
  Status read_slots();

  system::File file_;
  uint64_t sequence_ = 0;  // newest()'s; a slot's place is its sequence number modulo 2
  std::optional<MetaPair> newest_;
  std::optional<LogId> newest_log_;
  std::optional<LogId> log_;  // of the next slot
};

}  // namespace gridmount::local
