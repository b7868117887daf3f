// Disk space that is reserved for removals. LMDB changes a page by writing a new one, so without a
// reserve a full disk would refuse even removals, and users could not free space from within the
// store. The reserve is the file `reserve` in the store's folder. Its blocks are released to the
// file system, by a truncation to zero, while a transaction with a net shrink is committed.
//
// Such a transaction appends a few pages to data.mdb before the pages that it frees can be reused.
// So afterwards there may not be space for the whole reserve. It is filled up again as soon as the
// disk has space. If the file system cannot allocate blocks ahead, zeros are written to the file
// instead. The reserve does not help if another process takes the released blocks, or if the file
// system stores zeros without blocks.
//
// Thread-safety: the caller must hold the write lock, except for wants_checkpoint(),
// want_checkpoint() and checkpoint_begins(), which any thread may call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "engine/system/file.h"

namespace gridmount::local {

class SpaceReserve {
 public:
  static constexpr uint64_t kBytes = uint64_t{4} << 20;

  enum class Room {
    kEnough,
    kScarce,  // less than kScarceBytes: a large transaction may fail, so it should be committed
              // alone
    kNone,    // less than kBytes
  };
  static constexpr uint64_t kScarceBytes = uint64_t{16} << 20;

  explicit SpaceReserve(std::filesystem::path folder) : folder_(std::move(folder)) {}
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  // Allocates as much of the reserve as the disk has space for. The folder must already be a store.
  // Returns no error, because a store works without the reserve.
  void open();

  // Returns how much space the file system has, and fills the reserve up if possible. If the file
  // system had plenty of space, does not ask it again for a short time.
  Room room();
  // Releases the reserve to the file system, before the commit of a transaction with a net shrink.
  void release();
  // Refills the reserve after that commit. `grown` says whether the commit has appended pages to
  // data.mdb.
  void refill(bool grown);

  // Returns whether a checkpoint is necessary before anything else is written: a commit has used
  // the space of the reserve, or found no space. LMDB reuses recently freed pages only after a
  // checkpoint.
  bool wants_checkpoint() const { return wants_checkpoint_; }
  void want_checkpoint() { wants_checkpoint_ = true; }
  // Must be called when a commit has failed because the disk was full. For a while room() then does
  // not return kEnough, so that the transactions of that commit are tried again one by one.
  void record_full_disk();
  void checkpoint_begins() { wants_checkpoint_ = false; }

 private:
  void fill();

  const std::filesystem::path folder_;
  system::File file_;
  uint64_t bytes_ = 0;  // the file's size, all of it allocated
  std::chrono::steady_clock::time_point next_check_;
  std::chrono::steady_clock::time_point scarce_until_;
  std::atomic<bool> wants_checkpoint_ = false;
};

}  // namespace gridmount::local
