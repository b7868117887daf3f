// An index of a listing by the hashes of its names. The index finds the position of a name by the
// hash in a cookie, if the stream has not returned this cookie or has forgotten it.
//
// The index reads the names from the beginning, and only as far as searches need it. The index
// keeps the hash of each name and the name's block. A block is up to kBlockNames consecutive names,
// and the start of the block is the position before them. A search for an indexed name reads only
// the names of one block. If no name has the hash, the search reads and indexes the remaining
// names. A later search of this kind reads nothing if the store has not changed. After a change, or
// if the store's version is unknown, the index is built anew before it reports a hash as missing.
//
// The index holds at most kNamesMax names. In a longer listing, each search for a later name or for
// a missing hash reads on from the last indexed name.
//
// Not thread-safe. Belongs to one stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::gridfs {

// The hash of a name in a listing, and the position after the name.
template <typename Position>
struct HashedName {
  uint64_t hash = 0;
  Position after{};
};

// directory_cookies.h defines the requirements on `Position`.
template <typename Position>
class NameHashIndex {
 public:
  static constexpr size_t kBlockNames = 64;
  static constexpr size_t kNamesMax = 1 << 20;
  // The number of low bits of a hash that are compared. The other bits are ignored.
  static constexpr unsigned kHashBits = 44;

  // Returns the position after a name with this hash, or nothing if no name has it. `version` is
  // the version of the store's newest contents (engine/store.h), if it is known. `go_to(position)`
  // moves the stream. `pass()` reads the next name and returns Result<optional<HashedName>>. After
  // find(), the stream may be at any position.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> find(uint64_t hash, std::optional<uint64_t> version,
                                       const GoTo& go_to, const Pass& pass) {
    hash &= kHashMask;
    const bool is_first = starts_.empty();
    if (is_first) restart(version);
    if (const std::optional<size_t> block = block_of(hash)) {
      GM_ASSIGN(const std::optional<Position> found, find_in_block(*block, hash, go_to, pass));
      if (found) return found;
    }
    GM_ASSIGN(const std::optional<Position> found, read_until(hash, go_to, pass));
    const bool unchanged = version && version == version_;
    if (found || is_first || unchanged) return found;
    restart(version);
    return read_until(hash, go_to, pass);
  }

 private:
  static constexpr uint64_t kHashMask = (uint64_t{1} << kHashBits) - 1;
  static constexpr unsigned kBlockBits = 64 - kHashBits;
  static_assert(kNamesMax / kBlockNames <= uint64_t{1} << kBlockBits);

  void restart(std::optional<uint64_t> version) {
    version_ = version;
    hashes_.clear();
    sorted_ = 0;
    starts_.clear();
    read_to_ = Position{};
    ended_ = false;
  }

  // Returns a block that has a name with this hash.
  std::optional<size_t> block_of(uint64_t hash) {
    // Sorts only when more than about an eighth of the names are unsorted, so sorting is rare. The
    // unsorted names are then few enough for a search one by one.
    if (hashes_.size() - sorted_ > kBlockNames + sorted_ / 8) {
      std::sort(hashes_.begin(), hashes_.end());
      sorted_ = hashes_.size();
    }
    const auto unsorted = hashes_.begin() + static_cast<ptrdiff_t>(sorted_);
    auto found = std::lower_bound(hashes_.begin(), unsorted, hash << kBlockBits);
    if (found == unsorted || *found >> kBlockBits != hash) {
      found = std::find_if(unsorted, hashes_.end(),
                           [&](uint64_t name) { return name >> kBlockBits == hash; });
    }
    if (found == hashes_.end()) return std::nullopt;
    return static_cast<size_t>(*found & ((uint64_t{1} << kBlockBits) - 1));
  }

  // Searches a block, including names that were created in its range after the block was indexed.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> find_in_block(size_t block, uint64_t hash, const GoTo& go_to,
                                                const Pass& pass) const {
    const Position& end = block + 1 < starts_.size() ? starts_[block + 1] : read_to_;
    go_to(starts_[block]);
    while (true) {
      GM_ASSIGN(const std::optional<HashedName<Position>> passed, pass());
      if (!passed || end < passed->after) return std::optional<Position>();
      if ((passed->hash & kHashMask) == hash) return std::optional(passed->after);
    }
  }

  // Searches the names after the indexed ones, and indexes them.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> read_until(uint64_t hash, const GoTo& go_to, const Pass& pass) {
    if (ended_) return std::optional<Position>();
    go_to(read_to_);
    while (true) {
      GM_ASSIGN(const std::optional<HashedName<Position>> passed, pass());
      if (!passed) {
        ended_ = hashes_.size() < kNamesMax;
        return std::optional<Position>();
      }
      const uint64_t passed_hash = passed->hash & kHashMask;
      if (hashes_.size() < kNamesMax) {
        if (hashes_.size() % kBlockNames == 0) starts_.push_back(read_to_);
        hashes_.push_back(passed_hash << kBlockBits | (starts_.size() - 1));
        read_to_ = passed->after;
      }
      if (passed_hash == hash) return std::optional(passed->after);
    }
  }

  std::optional<uint64_t> version_;  // the store's version when the index was begun
  // The hash of each indexed name, shifted left; the low bits are the number of the name's block.
  std::vector<uint64_t> hashes_;
  // The first `sorted_` elements of hashes_ are sorted. The others are in the order of the listing.
  size_t sorted_ = 0;
  std::vector<Position> starts_;  // the starts of the blocks
  Position read_to_{};            // the position after the indexed names
  bool ended_ = false;            // all names of the listing are indexed
};

}  // namespace gridmount::gridfs
