// Records in which blocks a chunk in memory differs from the chunk in the store, so that a commit
// writes only these blocks.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/binary_overwrite.h"

namespace gridmount::gridfs {

class ChangedBlocks {
 public:
  // The bytes [from, to) of the content.
  struct Range {
    uint32_t from = 0;
    uint32_t to = 0;
  };

  // For a chunk that the store does not have, or of which everything has changed.
  ChangedBlocks() = default;
  // For an unchanged chunk that was read from the store, where it has this many bytes.
  explicit ChangedBlocks(uint32_t stored_bytes) : stored_bytes_(stored_bytes) {}

  // Returns true if [from, to) consists of whole blocks and add() has room to record all of them.
  bool has_room_for(uint32_t from, uint32_t to) const {
    if (!stored_bytes_ || from % kBlockBytes != 0 || to % kBlockBytes != 0) return false;
    size_t added = 0;
    for (uint32_t block = from / kBlockBytes; block < to / kBlockBytes; ++block) {
      if (!std::binary_search(blocks_.data(), blocks_.data() + count_, block)) ++added;
    }
    return count_ + added <= blocks_.size();
  }

  // Records that the bytes [from, to) have changed or are new.
  void add(uint32_t from, uint32_t to) {
    if (!stored_bytes_ || from >= to) return;
    const uint32_t last = (to - 1) / kBlockBytes;
    for (uint32_t block = from / kBlockBytes; block <= last; ++block) {
      uint32_t* const end = blocks_.data() + count_;
      uint32_t* const at = std::lower_bound(blocks_.data(), end, block);
      if (at != end && *at == block) continue;
      if (count_ == blocks_.size()) {
        stored_bytes_.reset();
        return;
      }
      std::copy_backward(at, end, end + 1);
      *at = block;
      ++count_;
    }
  }

  // Returns whether a commit can write the blocks alone: the chunk was read from the store, is not
  // shorter now, and few blocks have changed. `size` is the number of bytes that the chunk has now.
  bool is_part_of(uint32_t size) const { return stored_bytes_ && *stored_bytes_ <= size; }
  // The functions below may be called only if is_part_of() is true.

  // Returns the number of bytes that the store's chunk had when it was read.
  uint32_t stored_bytes() const { return *stored_bytes_; }
  // Returns an upper bound for the bytes in the blocks.
  uint64_t bytes() const { return uint64_t{count_} * kBlockBytes; }
  // Returns the blocks in ascending order, without overlaps.
  std::vector<Range> ranges(uint32_t size) const {
    std::vector<Range> ranges;
    for (size_t i = 0; i < count_; ++i) {
      const Range block{blocks_[i] * kBlockBytes, std::min((blocks_[i] + 1) * kBlockBytes, size)};
      if (block.from >= block.to) continue;  // the chunk was cut since
      if (!ranges.empty() && ranges.back().to == block.from) {
        ranges.back().to = block.to;
      } else {
        ranges.push_back(block);
      }
    }
    return ranges;
  }

 private:
  static constexpr uint32_t kBlockBytes = engine::kOverwriteBlockBytes;
  static constexpr size_t kBlocksMax = 16;

  std::optional<uint32_t> stored_bytes_;
  std::array<uint32_t, kBlocksMax> blocks_{};
  size_t count_ = 0;
};

}  // namespace gridmount::gridfs
