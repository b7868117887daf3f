#include <algorithm>
#include <cstring>

#include "engine/query/expression/evaluation.h"
#include "engine/query/interruption.h"

namespace gridmount::query {
namespace {

constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr size_t kLargestBlockBytes = size_t{1} << 20;

}  // namespace

Status Arena::enter_next_block(size_t size) {
  const size_t next = blocks_.empty() ? 0 : current_ + 1;
  size_t fitting = next;
  while (fitting < blocks_.size() && blocks_[fitting].size < size) ++fitting;
  if (fitting == blocks_.size()) {
    const size_t previous = blocks_.empty() ? kFirstBlockBytes / 2 : blocks_.back().size;
    // All later blocks are too small, so they are freed. Otherwise a value that grows step by step
    // would leave a block for each of its sizes. For the same reason a large block has room for the
    // next size.
    blocks_.resize(next);
    const size_t wanted = std::max(size + size / 4, std::min(2 * previous, kLargestBlockBytes));
    blocks_.push_back({std::make_unique<uint8_t[]>(wanted), wanted});
  } else {
    std::swap(blocks_[next], blocks_[fitting]);
  }
  current_ = next;
  used_ = 0;
  return {};
}

Result<uint8_t*> Arena::allocate(size_t size) {
  if (size > bytes_left()) {
    return fail(ErrorCode::kExceededMemoryLimit,
                "Expression used too much memory: its values exceed " + std::to_string(bytes_max_) +
                    " bytes");
  }
  GM_TRY(check_interruption_of(size));
  if (blocks_.empty() || size > blocks_[current_].size - used_) GM_TRY(enter_next_block(size));
  uint8_t* const data = blocks_[current_].data.get() + used_;
  used_ += size;
  bytes_ += size;
  return data;
}

Result<bson::ValueView> Arena::keep(bson::ValueView value) {
  GM_ASSIGN(uint8_t* const data, allocate(value.size()));
  if (value.size() != 0) std::memcpy(data, value.data(), value.size());
  return bson::ValueView(value.type(), data, value.size());
}

void Arena::clear() {
  size_t kept = 0;
  size_t bytes = 0;
  while (kept < blocks_.size() && bytes + blocks_[kept].size <= 2 * kLargestBlockBytes) {
    bytes += blocks_[kept].size;
    ++kept;
  }
  blocks_.resize(kept);
  bytes_ = 0;
  current_ = 0;
  used_ = 0;
}

namespace expressions {

ArenaAccess::Mark ArenaAccess::mark(const Arena& arena) {
  return {arena.current_, arena.used_, arena.bytes_};
}

void ArenaAccess::rewind(Arena& arena, const Mark& mark) {
  arena.current_ = mark.block;
  arena.used_ = mark.used;
  arena.bytes_ = mark.bytes;
}

bool ArenaAccess::made_since(const Arena& arena, const Mark& mark, const uint8_t* data) {
  for (size_t i = mark.block; i < arena.blocks_.size() && i <= arena.current_; ++i) {
    const Arena::Block& block = arena.blocks_[i];
    const uint8_t* const begin = block.data.get() + (i == mark.block ? mark.used : 0);
    if (data >= begin && data <= block.data.get() + block.size) return true;
  }
  return false;
}

void ArenaAccess::charge(Arena& arena, uint64_t bytes) {
  arena.held_ += bytes;
}

void ArenaAccess::refund(Arena& arena, uint64_t bytes) {
  arena.held_ -= bytes;
}

Result<uint8_t*> ArenaAccess::allocate(Arena& arena, size_t size) {
  return arena.allocate(size);
}

uint64_t ArenaAccess::capacity(const Arena& arena) {
  uint64_t bytes = 0;
  for (const Arena::Block& block : arena.blocks_) bytes += block.size;
  return bytes;
}

}  // namespace expressions
}  // namespace gridmount::query
