// Goal: numbers of status documents that no counter has become the nearest count.
#include "tools/gridstore/top/status_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "engine/bson/builder.h"

namespace gridmount::tools {
namespace {

uint64_t count_in_field(double number) {
  bson::Builder builder;
  builder.append("n", number);
  const bson::Document document = std::move(builder).finish();
  return count_in(document, "n");
}

TEST(StatusFieldsTest, Count_NumbersOfAllKinds_IsTheNearestCount) {
  EXPECT_EQ(count_in_field(2.9), 2U);
  EXPECT_EQ(count_in_field(-1), 0U);
  EXPECT_EQ(count_in_field(std::numeric_limits<double>::quiet_NaN()), 0U);
  EXPECT_EQ(count_in_field(-std::numeric_limits<double>::infinity()), 0U);
  EXPECT_EQ(count_in_field(std::numeric_limits<double>::infinity()), 0U);
  EXPECT_EQ(count_in_field(18446744073709551616.0), UINT64_MAX);
  EXPECT_EQ(count_of(std::numeric_limits<double>::infinity()), UINT64_MAX);
  EXPECT_EQ(count_in(bson::Document(), "n"), 0U);
}

}  // namespace
}  // namespace gridmount::tools
