// Goal: ChangedBlocks names every block that has changed, each once and in order, or says that the
// whole chunk must be written.
// Method: single cases, and random changes compared with a set of blocks.
#include "gridfs/content/changed_blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gridmount::gridfs {
namespace {

constexpr uint32_t kBlockSize = engine::kOverwriteBlockBytes;

TEST(ChangedBlocksTest, NewChunk_IsWrittenWhole) {
  ChangedBlocks changed;
  changed.add(0, 10);
  EXPECT_FALSE(changed.is_part_of(100));
}

TEST(ChangedBlocksTest, ChunkThatWasCut_IsWrittenWhole) {
  ChangedBlocks changed(5000);
  EXPECT_TRUE(changed.is_part_of(5000));
  EXPECT_FALSE(changed.is_part_of(4999));
}

TEST(ChangedBlocksTest, Ranges_AreWholeBlocksUpToTheEnd) {
  ChangedBlocks changed(3 * kBlockSize);
  changed.add(kBlockSize + 1, kBlockSize + 2);
  changed.add(3 * kBlockSize, 3 * kBlockSize + 10);
  changed.add(5, 5);
  const auto ranges = changed.ranges(3 * kBlockSize + 10);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].from, kBlockSize);
  EXPECT_EQ(ranges[0].to, 2 * kBlockSize);
  EXPECT_EQ(ranges[1].from, 3 * kBlockSize);
  EXPECT_EQ(ranges[1].to, 3 * kBlockSize + 10);
  EXPECT_EQ(changed.stored_bytes(), 3 * kBlockSize);
}

TEST(ChangedBlocksTest, HasRoom_ForWholeBlocksUpToTheLimit) {
  EXPECT_FALSE(ChangedBlocks().has_room_for(0, kBlockSize));
  ChangedBlocks changed(100 * kBlockSize);
  EXPECT_FALSE(changed.has_room_for(1, kBlockSize));
  EXPECT_FALSE(changed.has_room_for(0, kBlockSize + 1));
  EXPECT_TRUE(changed.has_room_for(0, 16 * kBlockSize));
  EXPECT_FALSE(changed.has_room_for(0, 17 * kBlockSize));
  changed.add(0, 15 * kBlockSize);
  EXPECT_TRUE(changed.has_room_for(14 * kBlockSize, 16 * kBlockSize));
  EXPECT_FALSE(changed.has_room_for(15 * kBlockSize, 17 * kBlockSize));
}

TEST(ChangedBlocksTest, RandomChanges_AreAllNamed) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    constexpr uint32_t kSize = 40 * kBlockSize - 7;
    ChangedBlocks changed(kSize);
    std::set<uint32_t> blocks;
    for (uint64_t i = random() % 12; i > 0; --i) {
      const auto from = static_cast<uint32_t>(random() % kSize);
      const auto to = std::min<uint32_t>(kSize, from + 1 + random() % (2 * kBlockSize));
      changed.add(from, to);
      for (uint32_t block = from / kBlockSize; block <= (to - 1) / kBlockSize; ++block)
        blocks.insert(block);
    }
    if (blocks.size() > 16) {
      EXPECT_FALSE(changed.is_part_of(kSize));
      continue;
    }
    ASSERT_TRUE(changed.is_part_of(kSize));
    std::set<uint32_t> named;
    uint32_t end = 0;
    for (const ChangedBlocks::Range& range : changed.ranges(kSize)) {
      ASSERT_GE(range.from, end);
      ASSERT_EQ(range.from % kBlockSize, 0u);
      ASSERT_TRUE(range.to % kBlockSize == 0 || range.to == kSize);
      end = range.to;
      for (uint32_t block = range.from / kBlockSize; block * kBlockSize < range.to; ++block) {
        named.insert(block);
      }
    }
    EXPECT_EQ(named, blocks);
  }
}

}  // namespace
}  // namespace gridmount::gridfs
