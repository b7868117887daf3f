// DirectoryStream over all files of a bucket, by id_name() (path.h), in the order of _id.
//
// Read in batches, each from a snapshot of its own; a place is an _id.
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <utility>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/batched_listing.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

// Behind an _id; without one the beginning.
struct IdPlace {
  std::optional<bson::Value> id = {};

  friend bool operator==(const IdPlace& a, const IdPlace& b) { return a.compare(b) == 0; }
  friend bool operator<(const IdPlace& a, const IdPlace& b) { return a.compare(b) < 0; }
  std::weak_ordering compare(const IdPlace& other) const;
};

class IdListing final : public BatchedListing<IdPlace> {
 public:
  // Gives the node of a files document, or nothing if it is not to be shown. Valid with the
  // snapshot.
  using Show = std::function<std::optional<Node>(bson::View document)>;

  // `bucket` outlives the listing, and so does what `show` refers to.
  IdListing(const Bucket& bucket, Show show) : bucket_(bucket), show_(std::move(show)) {}

 private:
  Status read_batch() override;

  const Bucket& bucket_;
  const Show show_;
};

}  // namespace gridmount::gridfs
