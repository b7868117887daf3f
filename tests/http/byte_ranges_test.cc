// Goal: a field Range selects the bytes that RFC 9110 says, and never more than the file has.
// Method: a table of fields for a file of 100 bytes.
#include "http/byte_ranges.h"

#include <gtest/gtest.h>

#include <string>

namespace gridmount::http {
namespace {

std::string selected(std::string_view field, int64_t length = 100) {
  const SelectedRanges selection = select_ranges(field, length);
  if (selection.kind == SelectedRanges::Kind::kWhole) return "whole";
  if (selection.kind == SelectedRanges::Kind::kNotSatisfiable) return "none";
  std::string text;
  for (const gridfs::ByteRange& range : selection.ranges) {
    text +=
        (text.empty() ? "" : " ") + std::to_string(range.start) + "-" + std::to_string(range.end);
  }
  return text;
}

TEST(ByteRangesTest, OneRange) {
  EXPECT_EQ(selected("bytes=0-0"), "0-1");
  EXPECT_EQ(selected("bytes=10-19"), "10-20");
  EXPECT_EQ(selected("bytes=99-"), "99-100");
  EXPECT_EQ(selected("bytes=0-"), "0-100");
  EXPECT_EQ(selected("bytes=90-1000"), "90-100");
  EXPECT_EQ(selected("bytes=0-99999999999999999999999"), "0-100");
  EXPECT_EQ(selected(" BYTES=1-2 "), "1-3");
}

TEST(ByteRangesTest, Suffixes) {
  EXPECT_EQ(selected("bytes=-1"), "99-100");
  EXPECT_EQ(selected("bytes=-100"), "0-100");
  EXPECT_EQ(selected("bytes=-1000"), "0-100");
  EXPECT_EQ(selected("bytes=-9223372036854775808"), "0-100");
  EXPECT_EQ(selected("bytes=-0"), "none");
}

TEST(ByteRangesTest, SeveralRanges_KeepTheirOrder) {
  EXPECT_EQ(selected("bytes=50-59, 0-9,-5"), "50-60 0-10 95-100");
  EXPECT_EQ(selected("bytes=0-9,,20-29,"), "0-10 20-30");
  EXPECT_EQ(selected("bytes=0-9,200-300"), "0-10");
}

TEST(ByteRangesTest, BeyondTheEnd_IsNotSatisfiable) {
  EXPECT_EQ(selected("bytes=100-"), "none");
  EXPECT_EQ(selected("bytes=100-200,300-400"), "none");
  EXPECT_EQ(selected("bytes=99999999999999999999-"), "none");
  EXPECT_EQ(selected("bytes=0-", 0), "none");
  EXPECT_EQ(selected("bytes=-5", 0), "none");
}

TEST(ByteRangesTest, WhatIsNoRange_IsIgnored) {
  for (const char* field : {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=1",
                            "bytes=5-4", "bytes=1-2-3", "bytes=+1-2", "bytes= 1 - 2", "items=0-1",
                            "bytes=0-1,x", "bytes=0x0-1", "bytes=--1"}) {
    EXPECT_EQ(selected(field), "whole") << field;
  }
}

TEST(ByteRangesTest, MoreBytesThanTheFile_AreIgnored) {
  EXPECT_EQ(selected("bytes=0-49,50-99"), "0-50 50-100");
  EXPECT_EQ(selected("bytes=0-49,49-99"), "whole");
  EXPECT_EQ(selected("bytes=0-,0-"), "whole");
}

TEST(ByteRangesTest, TooManyRanges_AreIgnored) {
  std::string field = "bytes=0-0";
  for (size_t i = 1; i < kRangesMax; ++i)
    field += "," + std::to_string(i) + "-" + std::to_string(i);
  EXPECT_NE(selected(field), "whole");
  EXPECT_EQ(selected(field + ",90-91"), "whole");
}

}  // namespace
}  // namespace gridmount::http
