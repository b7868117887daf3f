// Goal: a target becomes components that lead nowhere but down, or is refused.
// Method: targets as clients and attackers send them.
#include "http/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gridmount::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Target parsed(std::string_view text) {
  const Result<Target> target = parse_target(text);
  EXPECT_TRUE(target) << text;
  return target ? *target : Target();
}

TEST(TargetTest, Paths_AreDecodedComponentByComponent) {
  EXPECT_THAT(parsed("/").components, IsEmpty());
  EXPECT_TRUE(parsed("/").ends_with_slash);
  EXPECT_THAT(parsed("/fs").components, ElementsAre("fs"));
  EXPECT_FALSE(parsed("/fs").ends_with_slash);
  EXPECT_THAT(parsed("/fs/").components, ElementsAre("fs"));
  EXPECT_TRUE(parsed("/fs/").ends_with_slash);
  EXPECT_THAT(parsed("/fs/a%20b/%c3%A9+c").components, ElementsAre("fs", "a b", "\xC3\xA9+c"));
  EXPECT_THAT(parsed("/fs/%25").components, ElementsAre("fs", "%"));
  EXPECT_THAT(parsed("/fs/...").components, ElementsAre("fs", "..."));
}

TEST(TargetTest, WaysUp_AreRefused) {
  for (const char* text :
       {"/..", "/fs/..", "/fs/../..", "/fs/%2e%2e/a", "/fs/.%2E", "/fs/.", "/fs/a%2fb", "/fs/%2F",
        "/fs//a", "//", "/fs/a%00b", "..", "fs", "", "*", "http://localhost", "/fs/%2e%2e%2fa"}) {
    const Result<Target> target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code(), ErrorCode::kBadValue);
  }
}

TEST(TargetTest, IncompleteEscapes_AreRefused) {
  for (const char* text :
       {"/%", "/%4", "/%4g", "/%g4", "/a%", "/a%4", "/a?b=%", "/a?%zz", "/a#b"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(TargetTest, Query_HasParameters) {
  const Target target = parsed("/fs/a?download&format=js%6Fn&&x=a=b");
  EXPECT_THAT(target.components, ElementsAre("fs", "a"));
  EXPECT_EQ(target.parameter("download"), "");
  EXPECT_EQ(target.parameter("format"), "json");
  EXPECT_EQ(target.parameter("x"), "a=b");
  EXPECT_EQ(target.parameter("y"), std::nullopt);
  EXPECT_EQ(target.parameter(""), std::nullopt);
}

TEST(TargetTest, AbsoluteForm_HasAnAuthority) {
  const Target target = parsed("HTTP://localhost:80/fs/a?b");
  EXPECT_EQ(target.authority, "localhost:80");
  EXPECT_THAT(target.components, ElementsAre("fs", "a"));
  EXPECT_EQ(parsed("/fs").authority, std::nullopt);
}

TEST(TargetTest, Encoding_IsUndoneByParsing) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '/') all += static_cast<char>(byte);
  }
  EXPECT_THAT(parsed(path_of({"fs", all})).components, ElementsAre("fs", all));
  EXPECT_EQ(path_of({}), "/");
  EXPECT_EQ(percent_encoded("a/b\"<\n"), "a%2Fb%22%3C%0A");
}

}  // namespace
}  // namespace gridmount::http
