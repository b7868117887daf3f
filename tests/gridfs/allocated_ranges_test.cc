// Goal: ranges are joined, split and truncated correctly, and their number stays within the limit.
// Method: single changes, and random ones compared with one flag per byte.

#include "gridfs/bucket/allocated_ranges.h"

#include <gmock/gmock.h>

#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Range = AllocatedRanges::Run;

TEST(AllocatedRangesTest, WhatTouchesOrOverlaps_IsOneRun) {
  AllocatedRanges ranges;
  EXPECT_TRUE(ranges.add(10, 20));
  EXPECT_TRUE(ranges.add(30, 40));
  EXPECT_TRUE(ranges.add(20, 25));
  EXPECT_THAT(ranges.runs(), ElementsAre(Range{10, 25}, Range{30, 40}));
  EXPECT_FALSE(ranges.add(12, 25));
  EXPECT_FALSE(ranges.add(5, 5));
  EXPECT_TRUE(ranges.add(5, 35));
  EXPECT_THAT(ranges.runs(), ElementsAre(Range{5, 40}));
  EXPECT_EQ(ranges.bytes(), 35);
}

TEST(AllocatedRangesTest, Removing_SplitsAndShortens) {
  AllocatedRanges ranges;
  ranges.add(0, 100);
  ranges.add(200, 300);
  EXPECT_TRUE(ranges.remove(40, 60));
  EXPECT_FALSE(ranges.remove(40, 60));
  EXPECT_FALSE(ranges.remove(100, 200));
  EXPECT_TRUE(ranges.remove(90, 210));
  EXPECT_THAT(ranges.runs(), ElementsAre(Range{0, 40}, Range{60, 90}, Range{210, 300}));
  EXPECT_TRUE(ranges.cut(70));
  EXPECT_THAT(ranges.runs(), ElementsAre(Range{0, 40}, Range{60, 70}));
  EXPECT_TRUE(ranges.cut(0));
  EXPECT_THAT(ranges.runs(), IsEmpty());
}

TEST(AllocatedRangesTest, OneMoreThanTheMost_TheShortestIsForgotten) {
  AllocatedRanges ranges;
  constexpr auto kMost = static_cast<int64_t>(AllocatedRanges::kRunsMax);
  for (int64_t i = 0; i < kMost; ++i) ranges.add(1000 * i, 1000 * i + (i == 7 ? 9 : 100));
  EXPECT_EQ(ranges.runs().size(), AllocatedRanges::kRunsMax);
  ranges.add(-1 + 1000 * kMost, 1000 * kMost + 100);
  EXPECT_EQ(ranges.runs().size(), AllocatedRanges::kRunsMax);
  EXPECT_EQ(ranges.runs()[7], (Range{8000, 8100}));
  // A split adds one range too.
  ranges.remove(3040, 3050);
  EXPECT_EQ(ranges.runs().size(), AllocatedRanges::kRunsMax);
  EXPECT_EQ(ranges.runs()[3], (Range{3050, 3100}));
  // Joining ranges makes room.
  ranges.add(0, 2000);
  ranges.add(5500, 5510);
  EXPECT_EQ(ranges.runs()[4], (Range{5500, 5510}));
}

TEST(AllocatedRangesTest, RandomChanges) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr int64_t kBytes = 100;  // no more than the most ranges
  AllocatedRanges ranges;
  std::vector<bool> expected(kBytes, false);
  for (int round = 0; round < 20'000; ++round) {
    const auto begin = static_cast<int64_t>(random() % kBytes);
    const int64_t end = begin + static_cast<int64_t>(random() % 9);
    const bool adds = random() % 2 == 0;
    const std::vector<bool> before = expected;
    for (int64_t at = begin; at < std::min(end, kBytes); ++at) {
      expected[static_cast<size_t>(at)] = adds;
    }
    const int64_t to = std::min(end, kBytes);
    ASSERT_EQ(adds ? ranges.add(begin, to) : ranges.remove(begin, to), before != expected);
    std::vector<bool> shown(kBytes, false);
    int64_t last = -1;
    for (const Range& run : ranges.runs()) {
      ASSERT_GT(run.begin, last);
      ASSERT_LT(run.begin, run.end);
      last = run.end;
      for (int64_t at = run.begin; at < run.end; ++at) shown[static_cast<size_t>(at)] = true;
    }
    ASSERT_EQ(shown, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace gridmount::gridfs
