// DirectoryStream that is read in batches: what has been read is given one by one, with cookies by
// which given_places.h leads back. What is read, and in which order, is the derived class's.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gridfs/namespace/given_places.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

// `Place`: given_places.h.
template <typename Place>
class BatchedListing : public DirectoryStream {
 public:
  Result<std::optional<DirectoryEntry>> next() final {
    GM_ASSIGN(std::optional<Listed> listed, take());
    if (!listed) return std::optional<DirectoryEntry>();
    listed->entry.cookie = given_.give(listed->hash, listed->after);
    return std::optional(std::move(listed->entry));
  }

  Status seek(uint64_t cookie) final {
    using Passed = typename GivenPlaces<Place>::Passed;
    const auto pass = [this]() -> Result<std::optional<Passed>> {
      GM_ASSIGN(std::optional<Listed> listed, take());
      if (!listed) return std::optional<Passed>();
      return std::optional(Passed{listed->hash, std::move(listed->after)});
    };
    return given_.seek(
        cookie, [this](const Place& place) { go_to(place); }, pass);
  }

 protected:
  // Reads on from read_to() by calls of add(), pass() and end(). A batch may have nothing in it.
  virtual Status read_batch() = 0;
  // The next batch follows a seek.
  virtual void begin_batches() {}

  // Behind what has been read.
  const Place& read_to() const { return read_to_; }
  size_t batch_size() const { return batch_.size(); }
  // `hash` tells the entry from others of the listing.
  void add(std::string name, Node node, uint64_t hash, Place after) {
    read_to_ = after;
    batch_.push_back({{std::move(name), std::move(node), 0}, hash, std::move(after)});
  }
  // Passes over what is not to be given.
  void pass(Place after) { read_to_ = std::move(after); }
  // Nothing follows.
  void end() { ended_ = true; }

 private:
  struct Listed {
    DirectoryEntry entry;  // without its cookie
    uint64_t hash = 0;
    Place after;
  };

  // The next one, nothing at the end.
  Result<std::optional<Listed>> take() {
    while (batch_.empty()) {
      if (ended_) return std::optional<Listed>();
      GM_TRY(read_batch());
    }
    std::optional<Listed> listed = std::move(batch_.front());
    batch_.pop_front();
    return listed;
  }
  void go_to(const Place& place) {
    batch_.clear();
    begin_batches();
    read_to_ = place;
    ended_ = false;
  }

  Place read_to_{};
  bool ended_ = false;
  std::deque<Listed> batch_;  // not yet given
  GivenPlaces<Place> given_;
};

}  // namespace gridmount::gridfs
