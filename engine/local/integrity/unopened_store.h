// The files of a store that is damaged so that it cannot be opened: its lock, the pages of data.mdb
// with the meta pages that can be believed, and the transactions that belong behind them. Nothing
// is written but the mark at the end.
//
// Thread-safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/meta_page.h"
#include "engine/local/files/owner_file.h"
#include "engine/local/storage/page_survey.h"
#include "engine/system/file.h"

namespace gridmount::local {

class UnopenedStore {
 public:
  // StoreLocked, the device's errors, and StoreDamaged if there are no valid meta pages, neither in
  // data.mdb nor in a checkpoint.
  static Result<UnopenedStore> open(const std::filesystem::path& folder);

  // As Environment's.
  Result<PageReport> survey_pages(PageVisitor* visitor) const;
  // Of the log or of `pending`, as for_each_change() reads them: what data.mdb lacks.
  const std::vector<std::string>& changes() const { return changes_; }

  // What of it is lost, as a line; empty if data.mdb is no older than its checkpoint.
  const std::string& lost() const { return lost_; }

  // Everything that was in it has been taken: data.mdb is whole once the new one is there.
  Status mark_closed() const;

 private:
  struct Unmap {
    size_t bytes;
    void operator()(uint8_t* map) const;
  };
  using Map = std::unique_ptr<uint8_t, Unmap>;

  UnopenedStore(OwnerFile owner, system::File data)
      : owner_(std::move(owner)), data_(std::move(data)) {}
  Status find_metas(const std::filesystem::path& folder);
  Status map_pages();

  OwnerFile owner_;
  system::File data_;
  MetaPair metas_;
  std::vector<std::string> changes_;
  std::string lost_;
  Map map_{nullptr, Unmap{0}};
};

}  // namespace gridmount::local
