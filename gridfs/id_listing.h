// DirectoryStream over all files of a bucket, by id_name() (path.h), in the order of _id.
//
// Read in batches, each from a snapshot of its own; a place is an _id.
#pragma once

#include <compare>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "gridfs/bucket.h"
#include "gridfs/given_places.h"
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
  // Behind an _id; without one the beginning.
  struct Place {
    std::optional<bson::Value> id = {};

    friend bool operator==(const Place& a, const Place& b) { return a.compare(b) == 0; }
    friend bool operator<(const Place& a, const Place& b) { return a.compare(b) < 0; }
    std::weak_ordering compare(const Place& other) const;
  };
  struct Listed {
    DirectoryEntry entry;  // without its cookie
    uint64_t hash = 0;
    Place after;
  };

  // The next one, nothing at the end.
  Result<std::optional<Listed>> take();
  Status read_batch();
  void go_to(const Place& place);

  const Bucket& bucket_;
  const Show show_;
  Place read_to_;
  bool ended_ = false;
  std::deque<Listed> batch_;
  GivenPlaces<Place> given_;
};

}  // namespace gridmount::gridfs
