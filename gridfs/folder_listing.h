// DirectoryStream over the documents of a bucket.
//
// First come the explicit folders in the order of their names, then the children in the order of
// the filename index, and in the root the files without a string filename. Each batch is read from
// a snapshot of its own, which is let go before the caller sees an entry. A place in the listing is
// the name consumed last, not a number of entries, so changes do not shift it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "gridfs/folders.h"
#include "gridfs/volume.h"

namespace gridmount::gridfs {

class FolderListing final : public DirectoryStream {
 public:
  // All outlive the listing.
  FolderListing(const Bucket& bucket, const Folders& folders, const VolumeOptions& options,
                std::string folder);

  Result<std::optional<DirectoryEntry>> next() override;
  Status seek(uint64_t cookie) override;

 private:
  enum class Pass { kFolders, kNames, kNameless, kEnd };
  struct Place {
    Pass pass = Pass::kFolders;
    std::string name;       // kFolders: the component; kNames: a filename
    bool inclusive = true;  // begin at the name, not behind it
    size_t query = 0;       // kNameless: which of the types of filenames
    int64_t skip = 0;       // kNameless: how many of it
  };
  struct Listed {
    DirectoryEntry entry;
    Place after;
  };

  Status read_batch();
  Status read_folders(engine::Snapshot& snapshot);
  Status read_names(engine::Snapshot& snapshot);
  Status read_nameless(engine::Snapshot& snapshot);
  void add(std::string name, Node node, Place after);
  void remember(uint64_t cookie, const Place& place);

  const Bucket& bucket_;
  const Folders& folders_;
  const VolumeOptions& options_;
  const std::string folder_;

  Place read_to_;               // behind the batch
  std::deque<Listed> batch_;    // not yet given
  uint64_t last_cookie_ = 0;    // of the entry given last
  uint64_t batch_cookies_ = 0;  // entries of batches so far
  // Where to go on behind a cookie: all of the last ones, and some of those before.
  std::deque<std::pair<uint64_t, Place>> recent_;
  std::vector<std::pair<uint64_t, Place>> marks_;
};

}  // namespace gridmount::gridfs
