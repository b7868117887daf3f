// The free pages of data.mdb: pages to which the newest snapshot does not refer. LMDB lists them in
// the free tree, which has an array of pages for each transaction that has freed some. LMDB reuses
// a free page once no reader's snapshot refers to it. Until then, free pages take room on the disk.
// FreePages returns that room to the file system by punching holes into the file. The file keeps
// its size, and a page takes room again when it is reused.
//
// Not thread-safe.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/system/file.h"

namespace gridmount::local {

// Returns how many pages the whole list has. Takes time in proportion to the number of transactions
// in the list.
Result<uint64_t> count_free_pages(MDB_txn* txn);

class FreePages {
 public:
  // The smallest hole worth punching while the disk has room. Smaller holes would scatter the data
  // that is later written into them over the disk.
  static constexpr uint64_t kHoleBytesMin = uint64_t{64} << 10;

  // Returns an error if what was read from the mapped files cannot be trusted.
  using FoundUnreadable = std::function<std::optional<Error>()>;
  // Returns a snapshot that a reader of this process holds, so that no page of it may be reused.
  using PinnedSnapshot = std::function<uint64_t()>;
  // `env` and `data` must outlive this.
  FreePages(MDB_env* env, const system::File& data, FoundUnreadable found_unreadable,
            PinnedSnapshot pinned_snapshot)
      : env_(env),
        data_(data),
        found_unreadable_(std::move(found_unreadable)),
        pinned_snapshot_(std::move(pinned_snapshot)) {}

  struct PunchedHoles {
    uint64_t bytes = 0;      // how much less data.mdb takes of the disk
    uint64_t next_page = 0;  // where to continue; 0 if there is nothing left
  };
  struct Bytes {
    uint64_t run_min;  // shorter runs of adjacent free pages are left alone
    uint64_t max;      // stop after about so many bytes
  };
  // Punches holes where pages from `first` on may be reused. Nobody may write meanwhile. Readers
  // may come and go. Takes one bit of memory for each page of the file. Fails with
  // CommandNotSupported if the file system cannot punch holes.
  Result<PunchedHoles> punch_holes(uint64_t first, Bytes wanted);

 private:
  struct Reusable {
    uint64_t oldest_snapshot = 0;  // pages freed by older transactions may be reused
    std::vector<bool> pages;       // whether each may be reused, with a false after the last one
  };
  Result<Reusable> reusable_pages();
  // Returns the oldest snapshot of any reader, or `newest` if none is older.
  Result<uint64_t> oldest_snapshot(uint64_t newest);

  MDB_env* const env_;
  const system::File& data_;
  const FoundUnreadable found_unreadable_;
  const PinnedSnapshot pinned_snapshot_;
};

}  // namespace gridmount::local
