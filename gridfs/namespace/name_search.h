// Finds the position of a name in a listing by the hash that is in a cookie, for cookies that the
// stream has not returned or has forgotten.
//
// The names are read once, from the beginning and only as far as searches need it. The object keeps
// the hash of each and the block that it is in. A block is up to kBlockNames names that follow one
// another, and its start is the position before them. So searching for a name that was read costs
// the names of its block, and searching for a hash that no name has costs nothing, as long as the
// store has not changed. After a change, a hash that is not found is searched for from the
// beginning again.
//
// At most kNamesMax names are kept. Each search for a name after these reads on from the last of
// them.
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

// A name of a listing, and the position after it.
template <typename Position>
struct PassedName {
  uint64_t hash = 0;
  Position after{};
};

// `Position` is defined in given_positions.h.
template <typename Position>
class NameSearch {
 public:
  static constexpr size_t kBlockNames = 64;
  static constexpr size_t kNamesMax = 1 << 20;
  // Only these bits of a hash count.
  static constexpr unsigned kHashBits = 44;

  // Returns the position after the first name with that hash, or nothing if there is none.
  // `version` is that of the store's newest contents (engine/store.h), if it is known.
  // `go_to(position)` moves the stream. `pass()` reads the next name and returns
  // Result<optional<PassedName>>. Afterwards the stream may be anywhere.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> find(uint64_t hash, std::optional<uint64_t> version,
                                       const GoTo& go_to, const Pass& pass) {
    hash &= kHashMask;
    const bool is_first = starts_.empty();
    if (is_first) start_again(version);
    if (const std::optional<size_t> block = block_of(hash)) {
      GM_ASSIGN(const std::optional<Position> found, find_in(*block, hash, go_to, pass));
      if (found) return found;
    }
    GM_ASSIGN(const std::optional<Position> found, read_on(hash, go_to, pass));
    const bool unchanged = version && version == version_;
    if (found || is_first || unchanged) return found;
    start_again(version);
    return read_on(hash, go_to, pass);
  }

 private:
  static constexpr uint64_t kHashMask = (uint64_t{1} << kHashBits) - 1;
  static constexpr unsigned kBlockBits = 64 - kHashBits;
  static_assert(kNamesMax / kBlockNames <= uint64_t{1} << kBlockBits);

  void start_again(std::optional<uint64_t> version) {
    version_ = version;
    names_.clear();
    sorted_ = 0;
    starts_.clear();
    read_to_ = Position{};
    ended_ = false;
  }

  // Returns the first block that has a name with that hash.
  std::optional<size_t> block_of(uint64_t hash) {
    // Only few names are unsorted, so that sorting is rare and searching is quick.
    if (names_.size() - sorted_ > kBlockNames + sorted_ / 8) {
      std::sort(names_.begin(), names_.end());
      sorted_ = names_.size();
    }
    const auto unsorted = names_.begin() + static_cast<ptrdiff_t>(sorted_);
    auto found = std::lower_bound(names_.begin(), unsorted, hash << kBlockBits);
    if (found == unsorted || *found >> kBlockBits != hash) {
      found = std::find_if(unsorted, names_.end(),
                           [&](uint64_t name) { return name >> kBlockBits == hash; });
    }
    if (found == names_.end()) return std::nullopt;
    return static_cast<size_t>(*found & ((uint64_t{1} << kBlockBits) - 1));
  }

  // Searches a block, with the names that were made in it since.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> find_in(size_t block, uint64_t hash, const GoTo& go_to,
                                          const Pass& pass) const {
    const Position& end = block + 1 < starts_.size() ? starts_[block + 1] : read_to_;
    go_to(starts_[block]);
    while (true) {
      GM_ASSIGN(const std::optional<PassedName<Position>> passed, pass());
      if (!passed || end < passed->after) return std::optional<Position>();
      if ((passed->hash & kHashMask) == hash) return std::optional(passed->after);
    }
  }

  // Searches the names that were not read yet.
  template <typename GoTo, typename Pass>
  Result<std::optional<Position>> read_on(uint64_t hash, const GoTo& go_to, const Pass& pass) {
    if (ended_) return std::optional<Position>();
    go_to(read_to_);
    while (true) {
      GM_ASSIGN(const std::optional<PassedName<Position>> passed, pass());
      if (!passed) {
        ended_ = names_.size() < kNamesMax;
        return std::optional<Position>();
      }
      const uint64_t passed_hash = passed->hash & kHashMask;
      if (names_.size() < kNamesMax) {
        if (names_.size() % kBlockNames == 0) starts_.push_back(read_to_);
        names_.push_back(passed_hash << kBlockBits | (starts_.size() - 1));
        read_to_ = passed->after;
      }
      if (passed_hash == hash) return std::optional(passed->after);
    }
  }

  std::optional<uint64_t> version_;  // the store's when the first name was read
  // The hash of each name that was read, and in the low bits its block.
  std::vector<uint64_t> names_;
  // The first `sorted_` names are in the order of their hashes. The others are in the order of the
  // listing.
  size_t sorted_ = 0;
  std::vector<Position> starts_;  // of the blocks
  Position read_to_{};            // the position after these names
  bool ended_ = false;            // there are no others
};

}  // namespace gridmount::gridfs
