// Goal: locks exclude each other and protect what RFC 4918 says, end in time, and are bounded.
#include "http/lock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "http/site_error.h"
#include "tests/must.h"

namespace gridmount::http {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LockTableTest : public ::testing::Test {
 protected:
  static Lock wanted(const std::string& path, bool is_exclusive = true, bool is_deep = false) {
    Lock lock;
    lock.path = path;
    lock.href = "/" + path;
    lock.is_exclusive = is_exclusive;
    lock.is_deep = is_deep;
    return lock;
  }
  std::string lock(const std::string& path, bool is_exclusive = true, bool is_deep = false) {
    return must(table_.add(wanted(path, is_exclusive, is_deep), now_)).token;
  }
  bool excludes(const std::string& path, bool is_exclusive = true, bool is_deep = false) {
    const auto added = table_.add(wanted(path, is_exclusive, is_deep), now_);
    if (added) table_.remove_all({added->token});
    EXPECT_TRUE(added || added.error().code() == kLockConflict);
    return !added;
  }
  bool may(const std::string& path, LockScope scope, const std::vector<std::string>& tokens = {}) {
    const Status checked = table_.check(path, scope, tokens, now_);
    EXPECT_TRUE(checked || checked.error().code() == kLocked);
    return checked.has_value();
  }

  LockTable table_{100};
  LockTable::Clock::time_point now_ = LockTable::Clock::now();
};

TEST_F(LockTableTest, Locks_ExcludeEachOther) {
  lock("fs/a/b");
  EXPECT_TRUE(excludes("fs/a/b"));
  EXPECT_TRUE(excludes("fs/a/b", false));
  EXPECT_FALSE(excludes("fs/a/bc"));
  EXPECT_FALSE(excludes("fs/a"));
  EXPECT_TRUE(excludes("fs/a", true, true));
  EXPECT_FALSE(excludes("fs/a/b/c"));
  EXPECT_FALSE(excludes("fs2/a/b"));
  lock("fs/deep", true, true);
  EXPECT_TRUE(excludes("fs/deep/x/y"));
  EXPECT_FALSE(excludes("fs/deeper"));
  lock("fs/shared", false);
  EXPECT_FALSE(excludes("fs/shared", false));
  EXPECT_TRUE(excludes("fs/shared"));
}

TEST_F(LockTableTest, Changes_NeedTheTokens) {
  const std::string token = lock("fs/a/b");
  for (const LockScope scope : {LockScope::kContent, LockScope::kName, LockScope::kTree}) {
    EXPECT_FALSE(may("fs/a/b", scope));
    EXPECT_FALSE(may("fs/a/b", scope, {"urn:other"}));
    EXPECT_TRUE(may("fs/a/b", scope, {"urn:other", token}));
  }
  // The names in a locked directory are locked, but not what the names lead to.
  EXPECT_TRUE(may("fs/a/b/c", LockScope::kContent));
  EXPECT_FALSE(may("fs/a/b/c", LockScope::kName));
  EXPECT_TRUE(may("fs/a/b/c", LockScope::kName, {token}));
  EXPECT_TRUE(may("fs/a/b/c/d", LockScope::kTree));
  EXPECT_TRUE(may("fs/a", LockScope::kName));
  EXPECT_FALSE(may("fs/a", LockScope::kTree));
  EXPECT_TRUE(may("fs/a", LockScope::kTree, {token}));
  const std::string deep = lock("fs/deep", true, true);
  EXPECT_FALSE(may("fs/deep/x/y", LockScope::kContent));
  EXPECT_TRUE(may("fs/deep/x/y", LockScope::kContent, {deep}));
  EXPECT_TRUE(may("fs/deeper", LockScope::kTree));
}

TEST_F(LockTableTest, OneOfSharedLocks_IsEnough) {
  const std::string one = lock("fs/a", false);
  const std::string other = lock("fs/a", false);
  EXPECT_NE(one, other);
  EXPECT_FALSE(may("fs/a", LockScope::kContent));
  EXPECT_TRUE(may("fs/a", LockScope::kContent, {one}));
  EXPECT_TRUE(may("fs/a", LockScope::kContent, {other}));
  // A tree needs a token for each place.
  const std::string below = lock("fs/a/b");
  EXPECT_FALSE(may("fs/a", LockScope::kTree, {one}));
  EXPECT_TRUE(may("fs/a", LockScope::kTree, {one, below}));
}

TEST_F(LockTableTest, Locks_End) {
  Lock brief = wanted("fs/a");
  brief.time = seconds(10);
  const std::string token = must(table_.add(brief, now_)).token;
  now_ += seconds(9);
  EXPECT_FALSE(may("fs/a", LockScope::kContent));
  EXPECT_TRUE(table_.refresh(token, "fs/a", std::nullopt, now_));
  EXPECT_FALSE(table_.refresh(token, "fs/b", std::nullopt, now_));
  EXPECT_FALSE(table_.refresh("urn:other", "fs/a", std::nullopt, now_));
  now_ += seconds(9);
  EXPECT_FALSE(may("fs/a", LockScope::kContent));
  EXPECT_EQ(table_.refresh(token, "fs/a", seconds(100), now_)->time, seconds(100));
  now_ += seconds(100);
  EXPECT_TRUE(may("fs/a", LockScope::kContent));
  EXPECT_THAT(table_.covering("fs/a", now_), IsEmpty());
  EXPECT_FALSE(excludes("fs/a"));
  EXPECT_FALSE(table_.refresh(token, "fs/a", std::nullopt, now_));
  EXPECT_FALSE(table_.remove(token, "fs/a", now_));
}

TEST_F(LockTableTest, Removal_TakesTheRightOnes) {
  const std::string token = lock("fs/a", true, true);
  const std::string other = lock("fs/b/c");
  EXPECT_FALSE(table_.remove(token, "fs/b/c", now_));
  EXPECT_THAT(table_.tokens_below("fs/b"), ElementsAre(other));
  EXPECT_THAT(table_.tokens_below("fs/a/x"), IsEmpty());
  EXPECT_TRUE(table_.remove(token, "fs/a/x", now_));
  EXPECT_TRUE(may("fs/a", LockScope::kTree));
  table_.remove_all({other});
  EXPECT_TRUE(may("fs/b", LockScope::kTree));
}

TEST_F(LockTableTest, TooManyLocks_AreRefused_UntilSomeEnd) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(lock("fs/" + std::to_string(i)));
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(table_.add(wanted("fs/x"), now_).error().code(), kTooManyRequests);
  now_ += kLockTimeMax;
  EXPECT_TRUE(table_.add(wanted("fs/x"), now_));
}

TEST_F(LockTableTest, Description_HasTheTimeThatIsLeft) {
  Lock asked = wanted("fs/a");
  asked.time = seconds(100);
  const Lock held = must(table_.add(std::move(asked), now_));
  const auto timeout_after = [&](std::chrono::milliseconds passed) {
    const std::string text = active_lock(held, now_ + passed);
    const size_t begin = text.find("Second-");
    return text.substr(begin, text.find('<', begin) - begin);
  };
  EXPECT_EQ(timeout_after(seconds(0)), "Second-100");
  EXPECT_EQ(timeout_after(seconds(60)), "Second-40");
  EXPECT_EQ(timeout_after(std::chrono::milliseconds(99'500)), "Second-1");
  EXPECT_EQ(timeout_after(seconds(101)), "Second-0");
}

}  // namespace
}  // namespace gridmount::http
