// Goal: `gridstore top` shows what happened between two samples, in the requested order.
#include "tools/gridstore/top/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/bson/json.h"

namespace gridmount::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TopSample sample_at(int seconds, std::vector<Activity> activities,
                    std::vector<Counter> counters = {}) {
  TopSample sample;
  sample.at = std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
  sample.activities = std::move(activities);
  sample.counters = std::move(counters);
  return sample;
}

std::vector<std::string> names(const std::vector<ActivityRate>& rates) {
  std::vector<std::string> names;
  for (const ActivityRate& rate : rates) names.push_back(rate.name);
  return names;
}

const TopSample kBefore = sample_at(10, {{"read", 100, 1.0}, {"write", 10, 5.0}, {"open", 7, 1}});
const TopSample kNow =
    sample_at(12, {{"read", 300, 1.5}, {"write", 12, 7.0}, {"open", 7, 1}, {"flush", 4, 0.1}});

TEST(TopScreenTest, Rates_AreThoseBetweenTheSamples) {
  const std::vector<ActivityRate> rates = rates_between(kBefore, kNow, TopOrder::kBusy);
  ASSERT_THAT(names(rates), ElementsAre("write", "read", "flush"));  // no open
  EXPECT_DOUBLE_EQ(rates[0].per_second, 1);
  EXPECT_DOUBLE_EQ(rates[0].seconds_each, 1);
  EXPECT_DOUBLE_EQ(rates[0].busy, 1);
  EXPECT_DOUBLE_EQ(rates[1].per_second, 100);
  EXPECT_DOUBLE_EQ(rates[1].seconds_each, 0.0025);
  EXPECT_DOUBLE_EQ(rates[1].busy, 0.25);
}

TEST(TopScreenTest, Orders) {
  EXPECT_THAT(names(rates_between(kBefore, kNow, TopOrder::kRate)),
              ElementsAre("read", "flush", "write"));
  EXPECT_THAT(names(rates_between(kBefore, kNow, TopOrder::kLatency)),
              ElementsAre("write", "flush", "read"));
  EXPECT_THAT(names(rates_between(kBefore, kNow, TopOrder::kName)),
              ElementsAre("flush", "read", "write"));
}

TEST(TopScreenTest, ServerStartedAnew_CountsFromZero) {
  const TopSample before = sample_at(0, {{"read", 100, 9}}, {{"query", 50}});
  const TopSample now = sample_at(1, {{"read", 20, 2}}, {{"query", 5}});
  const std::vector<ActivityRate> rates = rates_between(before, now, TopOrder::kBusy);
  ASSERT_EQ(rates.size(), 1U);
  EXPECT_DOUBLE_EQ(rates[0].per_second, 20);
  EXPECT_DOUBLE_EQ(rates[0].busy, 2);
  EXPECT_THAT(top_text({"store"}, before, now), HasSubstr("query 5/s"));
}

TEST(TopScreenTest, Text_HasARowForEachActivity) {
  TopSample now = kNow;
  now.state = {"2 connections"};
  now.counters = {{"sent", 4096, true}};
  now.pending = {{"find d.c 127.0.0.1", 3.25}};
  EXPECT_EQ(top_text({"~/media"}, kBefore, now),
            "~/media\n"
            "2 connections\n"
            "sent 2.0 KiB/s\n"
            "     3.2 s  find d.c 127.0.0.1\n"
            "\n"
            "OPERATIONS                                     PER SECOND    MS EACH   BUSY %\n"
            "write                                                 1.0   1000.000    100.0\n"
            "read                                                100.0      2.500     25.0\n"
            "flush                                                 2.0     25.000      5.0\n");
}

TEST(TopScreenTest, SmallScreen_IsNotLeft) {
  TopSample now = kNow;
  now.state = std::vector<std::string>(10, "a state of ten words");
  TopScreen screen{"title"};
  screen.columns = 50;
  screen.lines = 9;
  const std::string text = top_text(screen, kBefore, now);
  size_t lines = 0;
  for (size_t begin = 0; begin < text.size(); ++lines) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 50U);
    begin = end + 1;
  }
  EXPECT_EQ(lines, 9U);
}

TEST(TopScreenTest, NamesOfClients_CannotDrawOnTheTerminal) {
  const TopSample now = sample_at(12, {{"d.a\033[2Jb query", 4, 0.1}});
  EXPECT_THAT(top_text({"store"}, kBefore, now), Not(HasSubstr("\033")));
}

TEST(TopScreenTest, Document_HasTheSame) {
  TopSample now = sample_at(12, {{"read", 300, 1.5}}, {{"query", 8}});
  now.state = {"idle"};
  EXPECT_EQ(
      bson::to_json(top_document(kBefore, now, TopOrder::kBusy), bson::JsonForm::kRelaxed),
      R"({ "seconds" : 2.0, "rates" : { "query" : 4.0 }, "activities" : [ { "name" : "read", )"
      R"("perSecond" : 100.0, "secondsEach" : 0.002500000000000000052, "busy" : 0.25 } ], )"
      R"("state" : [ "idle" ], "pending" : [  ] })");
}

}  // namespace
}  // namespace gridmount::tools
