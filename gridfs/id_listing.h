// DirectoryStream over all files of a bucket, by id_name() (path.h), in the order of _id.
//
// Read in batches, each from a snapshot of its own; a place is an _id.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "gridfs/bucket.h"
#include "gridfs/volume.h"

namespace gridmount::gridfs {

class IdListing final : public DirectoryStream {
 public:
  // Gives the node of a files document, or nothing if it is not to be shown. Valid with the
  // snapshot.
  using Show = std::function<std::optional<Node>(bson::View document)>;

  // `bucket` outlives the listing, and so does what `show` refers to.
  IdListing(const Bucket& bucket, Show show) : bucket_(bucket), show_(std::move(show)) {}

  Result<std::optional<DirectoryEntry>> next() override;
  Status seek(uint64_t cookie) override;

 private:
  struct Listed {
    DirectoryEntry entry;
    bson::Value id;
  };

  Status read_batch();
  void go_behind(std::optional<bson::Value> id);

  const Bucket& bucket_;
  const Show show_;
  std::optional<bson::Value> read_to_;  // none: the beginning
  bool ended_ = false;
  std::deque<Listed> batch_;
  // Of the entries given last.
  std::deque<std::pair<uint64_t, bson::Value>> recent_;
};

}  // namespace gridmount::gridfs
