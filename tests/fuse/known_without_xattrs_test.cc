// Goal: the record that a node has no extended attributes counts only for its time, and only until
// something changes.

#include "fuse/tree/known_without_xattrs.h"

#include <gtest/gtest.h>

namespace gridmount::fuse {
namespace {

using std::chrono::seconds;
using Moment = KnownWithoutXattrs::Moment;

constexpr uint64_t kNode = 7;

TEST(KnownWithoutXattrs, NodeThatWasNoted_IsKnown_UntilItIsOldOrSomethingChanges) {
  KnownWithoutXattrs known;
  const Moment read{3, KnownWithoutXattrs::Clock::now()};
  EXPECT_FALSE(known.contains(kNode, read, seconds(1)));
  known.note(kNode, false, read);
  EXPECT_TRUE(known.contains(kNode, read, seconds(1)));
  EXPECT_FALSE(known.contains(kNode + 1, read, seconds(1)));
  EXPECT_TRUE(known.contains(kNode, {3, read.time + seconds(9)}, seconds(10)));
  EXPECT_FALSE(known.contains(kNode, {3, read.time + seconds(10)}, seconds(10)));
  EXPECT_FALSE(known.contains(kNode, {4, read.time}, seconds(10)));
  EXPECT_FALSE(known.contains(kNode, read, seconds(0)));
  known.note(kNode, false, {4, read.time});
  EXPECT_TRUE(known.contains(kNode, {4, read.time}, seconds(10)));
  EXPECT_TRUE(known.contains(kNode, {4, read.time + std::chrono::years(1)},
                             KnownWithoutXattrs::Clock::duration::max()));
  known.note(kNode, true, {4, read.time});
  EXPECT_FALSE(known.contains(kNode, {4, read.time}, seconds(10)));
}

}  // namespace
}  // namespace gridmount::fuse
