// The pages of data.mdb that nothing refers to, as LMDB's list has them: a tree of arrays, one for
// each transaction that has freed some, by its number. LMDB writes over those that no snapshot of
// any reader has; until then they take room on the disk, which can be given back to the file system
// as holes of the file. Its size stays, and a page that is used again takes room again.
//
// Thread-safety: none.
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

// In the whole list. Costs time by the number of transactions in it.
Result<uint64_t> count_free_pages(MDB_txn* txn);

class FreePages {
 public:
  // Where there is a choice: smaller holes would scatter what is written into them over the disk.
  static constexpr uint64_t kHoleBytesMin = uint64_t{64} << 10;

  // Says why what was read of the mapped files may not be believed, if it may not.
  using FoundUnreadable = std::function<std::optional<Error>()>;
  // `env` and `data` outlive this.
  FreePages(MDB_env* env, const system::File& data, FoundUnreadable found_unreadable)
      : env_(env), data_(data), found_unreadable_(std::move(found_unreadable)) {}

  struct GivenBack {
    uint64_t bytes = 0;      // of the disk
    uint64_t next_page = 0;  // where to go on; 0 if there is no more
  };
  struct Bytes {
    uint64_t run_min;  // of pages side by side; fewer stay
    uint64_t max;      // of all, or a few more
  };
  // Makes holes of the pages from `first` on that LMDB may write over. Nobody may write meanwhile;
  // readers may come and go. Takes a bit of memory for each page of the file. CommandNotSupported
  // if the file system makes no holes in files.
  Result<GivenBack> give_back(uint64_t first, Bytes wanted);

 private:
  // By number, with one that is not free behind the last.
  Result<std::vector<bool>> reusable_pages();
  // No reader has an older snapshot.
  Result<uint64_t> oldest_snapshot(uint64_t newest);

  MDB_env* const env_;
  const system::File& data_;
  const FoundUnreadable found_unreadable_;
};

}  // namespace gridmount::local
