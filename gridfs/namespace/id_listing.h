// A DirectoryStream over all files of a bucket, in the order of _id. The name of each entry is
// id_name() (name_mapping.h). A file whose _id is too long for a name is left out. The listing is
// read in batches, each from its own snapshot. A position is an _id.
//
// Not thread-safe.
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <utility>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/batched_listing.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// The position after an _id, or the beginning if unset.
struct IdPosition {
  std::optional<bson::Value> id = {};

  friend bool operator==(const IdPosition& a, const IdPosition& b) { return a.compare(b) == 0; }
  friend bool operator<(const IdPosition& a, const IdPosition& b) { return a.compare(b) < 0; }
  std::weak_ordering compare(const IdPosition& other) const;
};

class IdListing final : public BatchedListing<IdPosition> {
 public:
  // Returns the node of a files document, or nothing if the file must not be shown. The document is
  // valid during the call.
  using Show = std::function<std::optional<Node>(bson::View document)>;

  // `bucket`, and everything that `show` refers to, must outlive the listing.
  IdListing(const Bucket& bucket, Show show)
      : BatchedListing(bucket.store()), bucket_(bucket), show_(std::move(show)) {}

 private:
  Status read_batch() override;

  const Bucket& bucket_;
  const Show show_;
};

}  // namespace gridmount::gridfs
