// Goal: data that is read in order is fetched ahead far enough, and other data is not fetched
// ahead.
// Method: sequences of reads. The tests add up the fetches that they cause.

#include "gridfs/content/read_window.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gridmount::gridfs {
namespace {

constexpr int64_t kRead = 128 * 1024;
constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kLength = 1024 * kMiB;
constexpr ReadWindow::State kThere{.window_bytes_max = 32 * kMiB, .is_there = true};

// Reads [begin, end) in order. Returns where fetching ahead has got to, or `begin` if nothing was
// fetched. Checks that each fetch begins where the last one ended.
int64_t read_in_order(ReadWindow& window, int64_t begin, int64_t end,
                      ReadWindow::State state = kThere) {
  int64_t fetched = begin;
  for (int64_t at = begin; at < end; at += kRead) {
    const ReadWindow::Advice advice =
        window.record_read(at, std::min(at + kRead, kLength), kLength, state);
    if (advice.begin >= advice.end) continue;
    EXPECT_TRUE(fetched == begin || advice.begin == std::max(fetched, at + kRead));
    fetched = advice.end;
  }
  return fetched;
}

TEST(ReadWindowTest, OneRead_FetchesNothingAhead) {
  ReadWindow window;
  EXPECT_EQ(read_in_order(window, 0, kRead), 0);
}

TEST(ReadWindowTest, SecondReadInOrder_FetchesTheFirstWindow) {
  ReadWindow window;
  EXPECT_EQ(read_in_order(window, 0, 2 * kRead), 2 * kRead + ReadWindow::kFirstWindowBytes);
}

TEST(ReadWindowTest, LongRead_GetsTheLargestWindow_AndKeepsIt) {
  ReadWindow window;
  const int64_t fetched = read_in_order(window, 0, 100 * kMiB);
  EXPECT_LE(fetched, 132 * kMiB);
  EXPECT_GT(fetched, 132 * kMiB - ReadWindow::kRequestBytesMax);
}

TEST(ReadWindowTest, ShortRead_FetchesASmallMultiple) {
  ReadWindow window;
  EXPECT_LE(read_in_order(window, 0, 2 * kMiB), 12 * kMiB);
}

TEST(ReadWindowTest, SlowFetches_KeepTheWindow) {
  ReadWindow window;
  ReadWindow::State slow = kThere;
  slow.may_grow = false;
  EXPECT_LE(read_in_order(window, 0, 100 * kMiB, slow), 102 * kMiB);
}

TEST(ReadWindowTest, WhatIsNotThereAnyMore_ShrinksTheWindow) {
  ReadWindow window;
  read_in_order(window, 0, 100 * kMiB);
  ReadWindow::State gone = kThere;
  gone.is_there = false;
  const ReadWindow::Advice advice =
      window.record_read(100 * kMiB, 100 * kMiB + kRead, kLength, gone);
  EXPECT_EQ(advice.begin, 100 * kMiB + kRead);
  EXPECT_EQ(advice.end, 108 * kMiB + kRead);
  EXPECT_LE(read_in_order(window, 100 * kMiB + kRead, 200 * kMiB), 208 * kMiB);
}

TEST(ReadWindowTest, EndOfTheFile_IsFetchedWhole) {
  ReadWindow window;
  EXPECT_EQ(read_in_order(window, kLength - 3 * kMiB, kLength), kLength);
}

TEST(ReadWindowTest, ReadsHereAndThere_FetchNothing) {
  ReadWindow window;
  for (int64_t at : {500, 3, 90, 20, 700, 40, 333}) {
    const ReadWindow::Advice advice =
        window.record_read(at * kMiB, at * kMiB + kRead, kLength, kThere);
    EXPECT_GE(advice.begin, advice.end) << at;
  }
}

TEST(ReadWindowTest, ReadsThatArriveInAnotherOrder_AreInOrder) {
  ReadWindow window;
  for (int64_t at = 0; at < 8 * kMiB; at += 2 * kRead) {
    window.record_read(at + kRead, at + 2 * kRead, kLength, kThere);
    window.record_read(at, at + kRead, kLength, kThere);
  }
  const ReadWindow::Advice advice = window.record_read(8 * kMiB, 40 * kMiB, kLength, kThere);
  EXPECT_EQ(advice.end, 72 * kMiB);
}

TEST(ReadWindowTest, SeveralPlaces_AreFetchedAheadAtOnce) {
  ReadWindow window;
  int64_t fetched = 0;
  for (int64_t at = 0; at < 20 * kMiB; at += kRead) {
    for (int64_t place = 0; place < 4; ++place) {
      const int64_t begin = place * 200 * kMiB + at;
      const ReadWindow::Advice advice = window.record_read(begin, begin + kRead, kLength, kThere);
      fetched += std::max<int64_t>(advice.end - advice.begin, 0);
    }
  }
  EXPECT_GE(fetched, 4 * (20 + 32 - 4) * kMiB);
}

}  // namespace
}  // namespace gridmount::gridfs
