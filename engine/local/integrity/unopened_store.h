// Reads the files of a store that is too damaged to be opened. Takes the store's lock, and finds
// the newest meta pages that can be trusted and the later transactions that must be replayed.
// mark_closed() is the only function that writes.
//
// Thread-safety: not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/files/meta_page.h"
#include "engine/local/storage/page_accounting.h"
#include "engine/system/file.h"

namespace gridmount::local {

class UnopenedStore {
 public:
  // Fails with StoreLocked if the store is in use, with StoreDamaged if data.mdb cannot be trusted
  // and no checkpoint has valid meta pages, as LockFile::lock() and read_fitting_format() do, and
  // with the errors of reading the files.
  static Result<UnopenedStore> open(const std::filesystem::path& folder);

  // Reports the use of each page of the store, as Environment::survey_pages() does, but needs no
  // guard.
  Result<PageReport> survey_pages(PageVisitor* visitor) const;
  // The changes from the log or from `pending` that data.mdb lacks, in the form that
  // for_each_change() reads.
  const std::vector<std::string>& changes() const { return changes_; }

  // Returns one line about the transactions that are lost because data.mdb is older than its newest
  // checkpoint. Returns an empty text if data.mdb is not older, or if open() has chosen the meta
  // pages of the checkpoint.
  const std::string& lost() const { return lost_; }

  // Marks the store as closed. May be called only when everything in the store has been copied and
  // the new data.mdb is complete.
  Status mark_closed() const;

 private:
  struct Unmap {
    size_t bytes;
    void operator()(uint8_t* map) const;
  };
  using Map = std::unique_ptr<uint8_t, Unmap>;

  UnopenedStore(LockFile owner, system::File data)
      : owner_(std::move(owner)), data_(std::move(data)) {}
  Status find_metas(const std::filesystem::path& folder);
  Status map_pages();

  LockFile owner_;
  system::File data_;
  MetaPair metas_;
  std::vector<std::string> changes_;
  std::string lost_;
  Map map_{nullptr, Unmap{0}};
};

}  // namespace gridmount::local
