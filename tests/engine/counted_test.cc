// Goal: messages use the plural if the number requires it.
// Method: call the functions with zero, one and more.
#include "engine/base/counted.h"

#include <gtest/gtest.h>

namespace gridmount {
namespace {

TEST(CountedTest, OneThing_HasTheSingular) {
  EXPECT_EQ(counted(1, "page"), "1 page");
  EXPECT_EQ(counted(1, "index"), "1 index");
  EXPECT_EQ(counted(1, "entry is", "entries are"), "1 entry is");
}

TEST(CountedTest, NoneAndMany_HaveThePlural) {
  EXPECT_EQ(counted(0, "page"), "0 pages");
  EXPECT_EQ(counted(2, "page"), "2 pages");
  EXPECT_EQ(counted(11, "index"), "11 indexes");
  EXPECT_EQ(counted(0, "entry is", "entries are"), "0 entries are");
  EXPECT_EQ(counted(21, "entry is", "entries are"), "21 entries are");
  EXPECT_EQ(counted(UINT64_MAX, "byte"), "18446744073709551615 bytes");
}

}  // namespace
}  // namespace gridmount
