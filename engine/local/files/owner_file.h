// The file `owner`: who has the store open, and whether the last owner closed it. FORMAT.md,
// chapter "owner". Its flock is the store's lock: exclusive for a writer, shared among readers. As
// the file may be removed under its owner, by somebody who takes it for left over, data.mdb is
// locked in the same way.
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
  kOpen,    // a process has it open for writing, or had when it ended
  kClosed,  // everything committed is durable
  kFailed,  // a sync failed: only the newest checkpoint can be relied on
};

struct OwnerMark {
  OwnerState state = OwnerState::kOpen;
  int64_t pid = 0;
  std::string host;
  std::string boot_id;      // empty if the kernel gave none
  uint64_t data_inode = 0;  // of data.mdb: a copy of the store has another
};

class OwnerFile {
 public:
  // Takes the lock without waiting. StoreLocked names the process that has it. `create` makes the
  // file if it is missing, which is StoreDamaged otherwise.
  static Result<OwnerFile> lock(const std::filesystem::path& folder, bool read_only, bool create);

  // Takes no lock: for one who only wants to know whose it is.
  static Result<OwnerFile> look(const std::filesystem::path& folder);

  // Nothing if the contents are no mark: nothing is known of the last owner then.
  Result<std::optional<OwnerMark>> read() const;
  // system::File's.
  bool is_in_place(const system::File& folder) const { return file_.is_in_place(folder); }
  // Durable on return.
  Status write(const OwnerMark& mark) const;

 private:
  explicit OwnerFile(system::File file) : file_(std::move(file)) {}
  system::File file_;
};

// The same lock on data.mdb, until `data` is closed. To be taken by who has the other one, before
// anything is believed or written. StoreLocked.
Status lock_data(const system::File& data, const std::filesystem::path& folder, bool read_only);

inline constexpr size_t kOwnerBytes = 512;
std::string format_owner_mark(const OwnerMark& mark);
std::optional<OwnerMark> parse_owner_mark(std::string_view text);

// Of the running kernel; differs after every start of the machine. Empty if it cannot be read.
std::string running_boot_id();

}  // namespace gridmount::local
