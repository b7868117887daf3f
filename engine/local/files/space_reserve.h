// Room on the disk that is kept for taking things out of a store: LMDB changes pages by writing new
// ones, so that on a full disk not even a removal would find room, and nothing could be done about
// it from within. The room is a file of its own, `reserve` in the store's folder, which is given up
// to the file system while a transaction that leaves less than there was is committed.
//
// Such a transaction appends a few pages before those it frees can be reused, so what was lent may
// come back smaller; it is made whole again as soon as the disk has room for it. Where another
// process takes what was lent, or the file system keeps no room for a file, a full disk is as full
// as ever.
//
// Thread-safety: to be called with the writers' turn held, what is said of checkpoints by any
// thread.
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
    kScarce,  // less than kScarceBytes: whoever needs much fails, and should take no one with it
    kNone,    // less than kBytes
  };
  static constexpr uint64_t kScarceBytes = uint64_t{16} << 20;

  explicit SpaceReserve(std::filesystem::path folder) : folder_(std::move(folder)) {}
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  // Takes of the room what there is, once the folder is a store. No error: one without works.
  void open();

  // On the file system. Makes the reserve whole again if there is room; where there is much of it,
  // the file system is not asked each time.
  Room room();
  void lend();
  // After the commit; `grown` if pages were appended to data.mdb.
  void take_back(bool grown);

  // What was lent has been used, or there was no room for a commit. Pages that are free since are
  // reused after a checkpoint only, so one is due before anything else is written.
  bool wants_checkpoint() const { return wants_checkpoint_; }
  void want_checkpoint() { wants_checkpoint_ = true; }
  // A commit has met a full disk, whatever room() has said: that one was too large, and should not
  // take others with it when it is tried again.
  void found_none();
  void checkpoint_begins() { wants_checkpoint_ = false; }

 private:
  void fill();

  const std::filesystem::path folder_;
  system::File file_;
  uint64_t bytes_ = 0;  // of the file, all of them allocated
  std::chrono::steady_clock::time_point ask_again_;
  std::chrono::steady_clock::time_point scarce_until_;
  std::atomic<bool> wants_checkpoint_ = false;
};

}  // namespace gridmount::local
