// Goal: the stats report the number of operations, their durations to an eighth, and their errors.
// Method: durations and errors with known sums and ranks, counted by one thread and by many.
#include "fuse/monitoring/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace gridmount::fuse {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::IsEmpty;

OperationSummary only_one(const Statistics& statistics) {
  const std::vector<OperationSummary> summaries = statistics.summaries();
  EXPECT_EQ(summaries.size(), 1U);
  return summaries.empty() ? OperationSummary() : summaries.front();
}

TEST(DurationClasses, EachDuration_IsInTheClassThatEndsJustBeyond) {
  size_t last = 0;
  for (uint64_t ns = 1; ns < uint64_t{1} << 40; ns += 1 + ns / 100) {
    const nanoseconds duration(ns);
    const size_t number = DurationClasses::of(duration);
    ASSERT_LT(number, DurationClasses::kCount);
    ASSERT_GE(number, last);
    ASSERT_LT(duration, DurationClasses::end(number)) << ns;
    if (number > 0) {
      ASSERT_GE(duration, DurationClasses::end(number - 1)) << ns;
      ASSERT_LE(DurationClasses::end(number).count(), duration.count() * 9 / 8 + 1) << ns;
    }
    last = number;
  }
  EXPECT_EQ(last, DurationClasses::kCount - 1);
}

TEST(DurationClasses, BeyondTheirEnds_AreInTheOutermost) {
  EXPECT_EQ(DurationClasses::of(0ns), 0U);
  EXPECT_EQ(DurationClasses::of(-1ns), 0U);
  EXPECT_EQ(DurationClasses::of(24h), DurationClasses::kCount - 1);
}

TEST(Statistics, Nothing_HasNoSummaries) {
  const Statistics statistics;
  EXPECT_THAT(statistics.summaries(), IsEmpty());
}

TEST(Statistics, Percentiles_AreWithinAnEighth) {
  Statistics statistics;
  for (int i = 1; i <= 1000; ++i) statistics.count("read", std::chrono::microseconds(i));
  const OperationSummary read = only_one(statistics);
  EXPECT_EQ(read.operation, "read");
  EXPECT_EQ(read.count, 1000U);
  EXPECT_EQ(read.total, 500'500us);
  EXPECT_EQ(read.longest, 1000us);
  EXPECT_GE(read.percentile(0.5), 500us);
  EXPECT_LE(read.percentile(0.5), 500us * 9 / 8);
  EXPECT_GE(read.percentile(0.9), 900us);
  EXPECT_GE(read.percentile(0.99), 990us);
  EXPECT_EQ(read.percentile(1), 1000us);
}

TEST(Statistics, LongestBeyondAllClasses_IsToldAsItIs) {
  Statistics statistics;
  statistics.count("fsync", 3h);
  EXPECT_EQ(only_one(statistics).percentile(0.5), 3h);
}

TEST(Measurement, WhatFollowsTheAnswer_DoesNotCount) {
  Statistics statistics;
  Measurement::end_current();
  EXPECT_THAT(statistics.summaries(), IsEmpty());
  nanoseconds until_answered{0};
  {
    const Measurement measurement(statistics, "read");
    std::this_thread::sleep_for(2ms);
    Measurement::end_current();
    until_answered = std::chrono::steady_clock::now() - measurement.begin();
    EXPECT_EQ(only_one(statistics).count, 1U);
    std::this_thread::sleep_for(2ms);
    Measurement::end_current();
  }
  const OperationSummary read = only_one(statistics);
  EXPECT_EQ(read.count, 1U);
  EXPECT_GE(read.total, 2ms);
  EXPECT_LE(read.total, until_answered);
}

TEST(Measurement, WithoutAnAnswer_EndsWithTheScope) {
  Statistics statistics;
  { const Measurement measurement(statistics, "forget"); }
  EXPECT_EQ(only_one(statistics).count, 1U);
}

TEST(Statistics, Errors_AreCountedByKind) {
  Statistics statistics;
  for (int error_number : {ENOENT, EEXIST, EIO, ENOENT}) {
    statistics.count_error("lookup", error_number);
    statistics.count("lookup", 1us);
  }
  const OperationSummary lookup = only_one(statistics);
  EXPECT_EQ(lookup.count, 4U);
  EXPECT_EQ(lookup.ordinary_errors, 3U);
  EXPECT_EQ(lookup.failures, 1U);
}

TEST(Statistics, ManyThreads_LoseNothing) {
  constexpr int kThreads = 8;
  constexpr int kEach = 20'000;
  static constexpr std::array<const char*, 4> kNames{"read", "write", "open", "release"};
  Statistics statistics;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int each = 0; each < kEach; ++each) {
        statistics.count(kNames[each % kNames.size()], nanoseconds(each));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<OperationSummary> summaries = statistics.summaries();
  ASSERT_EQ(summaries.size(), kNames.size());
  EXPECT_EQ(summaries.front().operation, "open");
  for (const OperationSummary& summary : summaries) {
    EXPECT_EQ(summary.count, kThreads * kEach / kNames.size()) << summary.operation;
  }
}

TEST(Statistics, MoreOperationsThanPlaces_AreCountedTogether) {
  constexpr size_t kBeyond = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < Statistics::kOperationsMax + kBeyond; ++i) {
    names.push_back("operation" + std::to_string(i));
  }
  Statistics statistics;
  for (const std::string& name : names) statistics.count(name.c_str(), 1us);
  const std::vector<OperationSummary> summaries = statistics.summaries();
  ASSERT_EQ(summaries.size(), Statistics::kOperationsMax + 1);
  EXPECT_EQ(summaries.back().operation, Statistics::kOthers);
  EXPECT_EQ(summaries.back().count, kBeyond);
}

}  // namespace
}  // namespace gridmount::fuse
