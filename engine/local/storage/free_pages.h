// The free pages of data.mdb, to which the newest snapshot does not refer. LMDB lists these pages
// in the free tree, which has an array of page numbers for each transaction that has freed pages.
// LMDB reuses a free page when no reader's snapshot refers to it. Until a page is reused, its space
// on the disk is wasted. FreePages returns this space to the file system by punching holes into the
// file. The file keeps its size, and a page needs disk space again when it is reused.
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

// Returns how many pages are in the list. The time for this grows with the number of transactions
// in the list.
Result<uint64_t> count_free_pages(MDB_txn* txn);

class FreePages {
 public:
  // The smallest hole to punch while the disk has space. Data that is later written into smaller
  // holes would be scattered over the disk.
  static constexpr uint64_t kHoleBytesMin = uint64_t{64} << 10;

  // Returns an error if the data that was read from the mapped files cannot be trusted.
  using FoundUnreadable = std::function<std::optional<Error>()>;
  // Returns the number of a snapshot that this process has pinned. The pages of this snapshot must
  // not be reused.
  using PinnedSnapshot = std::function<uint64_t()>;
  // `env` and `data` must outlive this object.
  FreePages(MDB_env* env, const system::File& data, FoundUnreadable found_unreadable,
            PinnedSnapshot pinned_snapshot)
      : env_(env),
        data_(data),
        found_unreadable_(std::move(found_unreadable)),
        pinned_snapshot_(std::move(pinned_snapshot)) {}

  struct PunchedHoles {
    uint64_t bytes = 0;      // how much less disk space data.mdb uses than before
    uint64_t next_page = 0;  // the page from which to continue; 0 if all holes were punched
  };
  struct Bytes {
    uint64_t run_min;  // runs of adjacent free pages with fewer bytes stay
    uint64_t max;      // punching stops after about this many bytes
  };
  // Punches holes for the pages from `first` on that may be reused. No transaction may write
  // meanwhile. Readers may begin and end meanwhile. Needs one bit of memory for each page of the
  // file. Fails with CommandNotSupported if the file system cannot punch holes, and with the error
  // of FoundUnreadable if it returns one.
  Result<PunchedHoles> punch_holes(uint64_t first, Bytes wanted);

 private:
  struct Reusable {
    uint64_t oldest_snapshot = 0;  // pages freed by older transactions may be reused
    std::vector<bool> pages;       // pages[i] says whether page i may be reused; one element, which
                                   // is false, follows the last page
  };
  Result<Reusable> reusable_pages();
  // Returns the number of the oldest snapshot of any reader, or `newest` if no snapshot is older.
  Result<uint64_t> oldest_snapshot(uint64_t newest);

  MDB_env* const env_;
  const system::File& data_;
  const FoundUnreadable found_unreadable_;
  const PinnedSnapshot pinned_snapshot_;
};

}  // namespace gridmount::local
