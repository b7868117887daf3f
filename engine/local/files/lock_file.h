// The file `owner`: who has the store open, and whether the last owner closed it. FORMAT.md,
// chapter "owner". The file's flock is the lock of the store: exclusive for a writer, shared among
// readers. data.mdb is locked in the same way, because someone may take `owner` for a leftover and
// remove it while the store is open.
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
  kOpen,    // a process has the store open for writing, or had it open when it ended
  kClosed,  // everything committed is durable
  kFailed,  // a sync failed: only the newest checkpoint can be relied on
};

struct OwnerMark {
  OwnerState state = OwnerState::kOpen;
  int64_t pid = 0;
  std::string host;
  std::string boot_id;      // the boot id of the owner's kernel; empty if unknown
  uint64_t data_inode = 0;  // the inode of data.mdb; a copy of the store has another
};

class LockFile {
 public:
  // Opens the file and takes the lock without waiting. Fails with StoreLocked, naming the process
  // that holds the lock. If the file is missing, creates it if `create` is set, and otherwise fails
  // with StoreDamaged. Fails with StoreReadOnly if the file can be read but not written.
  static Result<LockFile> lock(const std::filesystem::path& folder, bool read_only, bool create);

  // Opens the file without taking the lock, for a caller that only reads who owns the store.
  static Result<LockFile> look(const std::filesystem::path& folder);

  // Returns the last owner's mark, or nothing if the file's contents are not a valid mark.
  Result<std::optional<OwnerMark>> read() const;
  // See system::File::is_in_place().
  bool is_in_place(const system::File& folder) const { return file_.is_in_place(folder); }
  // Overwrites the file with the mark. The mark is durable on return.
  Status write(const OwnerMark& mark) const;

 private:
  explicit LockFile(system::File file) : file_(std::move(file)) {}
  system::File file_;
};

// Takes the same lock on data.mdb, without waiting. It is held until `data` is closed. The holder
// of the lock on `owner` must take it before it trusts or writes anything. Fails with StoreLocked.
Status lock_data(const system::File& data, const std::filesystem::path& folder, bool read_only);

inline constexpr size_t kOwnerBytes = 512;
std::string format_owner_mark(const OwnerMark& mark);
std::optional<OwnerMark> parse_owner_mark(std::string_view text);

// Returns the boot id of the running kernel, which is new at every start of the machine. Returns an
// empty string if it cannot be read.
std::string running_boot_id();

}  // namespace gridmount::local
