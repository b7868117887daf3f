// Reads and writes the file `owner`, which says which process has the store open, and whether the
// last owner closed the store. See FORMAT.md, chapter "owner". The flock of this file is the lock
// of the store: an opening for writing takes it exclusively, and read-only openings share it.
// data.mdb is locked in the same way, because a user may believe that `owner` is obsolete and
// delete it while the store is open.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/system/file.h"

namespace gridmount::local {

enum class OwnerState {
  kOpen,    // a process has the store open for writing, or ended without closing it
  kClosed,  // the store was closed, and all committed writes are durable
  kFailed,  // a sync failed: only the newest checkpoint is certain
};

struct OwnerMark {
  OwnerState state = OwnerState::kOpen;
  int64_t pid = 0;
  std::string host;
  std::string boot_id;      // the boot id of the owner's kernel; empty if unknown
  uint64_t data_inode = 0;  // the inode number of data.mdb, which differs in a copy of the store
};

class LockFile {
 public:
  // Opens the file and takes the lock without waiting. Fails with StoreLocked if another process,
  // or another LockFile of this process, holds a lock that excludes this one. The message names the
  // process if it is known. If the file is missing, creates it if `create` is true, and otherwise
  // fails with StoreDamaged. Fails with StoreReadOnly if the file must be written but can only be
  // read.
  static Result<LockFile> lock(const std::filesystem::path& folder, bool read_only, bool create);

  // Opens the file without the lock, for a caller that only reads the owner's mark.
  static Result<LockFile> look(const std::filesystem::path& folder);

  // Returns the last owner's mark, or nothing if the file's contents are not a valid mark.
  Result<std::optional<OwnerMark>> read() const;
  // See system::File::is_in_place().
  bool is_in_place(const system::File& folder) const { return file_.is_in_place(folder); }
  // Overwrites the file with the mark, and syncs it.
  Status write(const OwnerMark& mark) const;

 private:
  explicit LockFile(system::File file) : file_(std::move(file)) {}
  system::File file_;
};

// Takes on data.mdb the kind of lock that LockFile::lock() takes on `owner`, and keeps it until
// `data` is closed. Does not wait: fails with StoreLocked if another process, or another open file
// of this process, holds a lock that excludes this one. A process that has the lock on `owner` must
// also take this lock before it trusts or writes any file of the store.
Status lock_data(const system::File& data, const std::filesystem::path& folder, bool read_only);

// Writes the mark `closed` with the pid of this process and the inode number of `data`, and syncs
// it. Keeps the host and the boot id of the old mark. The caller must have the lock.
Status mark_closed(const LockFile& owner, const system::File& data);

inline constexpr size_t kOwnerBytes = 512;
std::string format_owner_mark(const OwnerMark& mark);
std::optional<OwnerMark> parse_owner_mark(std::string_view text);

// Returns the boot id of the running kernel, which changes at every start of the machine. Returns
// an empty string if it cannot be read.
std::string running_boot_id();

}  // namespace gridmount::local
