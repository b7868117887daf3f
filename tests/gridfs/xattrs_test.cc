// Goal: extended attributes are a value: a change to one copy does not show in another.
#include "gridfs/bucket/xattrs.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

using Contents = std::map<std::string, std::string>;

Contents contents_of(const Xattrs& xattrs) {
  Contents contents;
  for (const auto& [name, value] : xattrs.attributes()) contents.emplace(name, value);
  return contents;
}

Xattrs stored_and_read(const Xattrs& xattrs) {
  bson::Builder builder;
  append_xattrs(builder, "xattrs", xattrs);
  return read_xattrs(std::move(builder).finish(), "xattrs");
}

TEST(Xattrs, RandomChanges_EqualAModel) {
  std::mt19937 random(1);
  Xattrs xattrs;
  Contents model;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "user." + std::to_string(random() % 50);
    if (random() % 3 == 0) {
      xattrs.erase(name);
      model.erase(name);
    } else {
      const std::string value(random() % 20, static_cast<char>(random()));
      xattrs.set(name, value);
      model[name] = value;
    }
    ASSERT_EQ(contents_of(xattrs), model);
    ASSERT_EQ(contents_of(stored_and_read(xattrs)), model);
    ASSERT_EQ(xattrs.contains(name), model.contains(name));
    size_t bytes = 0;
    for (const auto& [each, value] : model) bytes += each.size() + value.size();
    ASSERT_EQ(xattrs.bytes(), bytes);
    ASSERT_EQ(xattrs.empty(), model.empty());
  }
}

TEST(Xattrs, Copies_KeepWhatTheyHad) {
  Xattrs xattrs;
  xattrs.set("user.a", "1");
  Xattrs copy = xattrs;
  xattrs.set("user.a", "2");
  xattrs.set("user.b", *xattrs.find("user.a"));
  copy.set("user.c", "3");
  EXPECT_EQ(contents_of(xattrs), (Contents{{"user.a", "2"}, {"user.b", "2"}}));
  EXPECT_EQ(contents_of(copy), (Contents{{"user.a", "1"}, {"user.c", "3"}}));
}

TEST(Xattrs, OfOneNameSeveralTimes_TheLastCounts) {
  const Xattrs xattrs({{"b", "1"}, {"a", "2"}, {"b", "3"}, {"b", "4"}, {"a", "5"}});
  EXPECT_EQ(contents_of(xattrs), (Contents{{"a", "5"}, {"b", "4"}}));
}

TEST(Xattrs, TheLimit_IsOfAllTogether) {
  Xattrs xattrs;
  const std::string half(kMaxXattrsBytes / 2 - 1, 'x');
  ASSERT_TRUE(set_xattr(xattrs, "a", half, XattrMode::kCreate));
  ASSERT_TRUE(set_xattr(xattrs, "b", half, XattrMode::kAny));
  ASSERT_TRUE(set_xattr(xattrs, "a", half, XattrMode::kReplace));
  const Status beyond = set_xattr(xattrs, "c", "", XattrMode::kAny);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), kNoRoomForXattrs);
  ASSERT_TRUE(remove_xattr(xattrs, "b"));
  EXPECT_TRUE(set_xattr(xattrs, "c", "", XattrMode::kAny));
}

}  // namespace
}  // namespace gridmount::gridfs
