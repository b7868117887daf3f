// Goal: password guesses become slow, but right passwords do not. Nobody can lock out others, and
// memory stays bounded.
#include "engine/wire/auth/login_throttle.h"

#include <gtest/gtest.h>

#include <string>

namespace gridmount::wire {
namespace {

using namespace std::chrono_literals;
using Clock = LoginThrottle::Clock;

constexpr int kFree = LoginThrottle::kOfPair.free_failures;
constexpr int kSharedFree = LoginThrottle::kOfOne.free_failures;

class LoginThrottleTest : public ::testing::Test {
 protected:
  static LoginThrottle::Attempt attempt(const std::string& host, const std::string& user) {
    return {host, user, user.find("nobody") == std::string::npos};
  }
  void fail(int times, const std::string& host = "10.0.0.1",
            const std::string& user = "admin.root") {
    for (int i = 0; i < times; ++i) throttle_.failed(attempt(host, user), now_);
  }
  Clock::duration pause(const std::string& host = "10.0.0.1",
                        const std::string& user = "admin.root") {
    return throttle_.pause(attempt(host, user), now_);
  }
  void succeed(const std::string& host = "10.0.0.1", const std::string& user = "admin.root") {
    throttle_.succeeded(attempt(host, user));
  }

  LoginThrottle throttle_;
  Clock::time_point now_ = Clock::time_point(1h);
};

TEST_F(LoginThrottleTest, Pause_DoublesAfterTheFreeFailures) {
  fail(kFree - 1);
  EXPECT_EQ(pause(), 0s);
  fail(1);
  EXPECT_EQ(pause(), 1s);
  fail(1);
  EXPECT_EQ(pause(), 2s);
  fail(20);
  EXPECT_EQ(pause(), 60s);
  now_ += 60s;
  EXPECT_EQ(pause(), 0s);
}

TEST_F(LoginThrottleTest, OtherHostsAndUsers_AreNotHeldUp) {
  fail(10);
  EXPECT_EQ(pause("10.0.0.2"), 0s);
  EXPECT_EQ(pause("10.0.0.1", "admin.other"), 0s);
}

TEST_F(LoginThrottleTest, Success_ForgetsTheFailures) {
  fail(10);
  succeed();
  EXPECT_EQ(pause(), 0s);
  fail(kFree - 1);
  EXPECT_EQ(pause(), 0s);
}

TEST_F(LoginThrottleTest, OldFailures_AreForgotten) {
  fail(10);
  now_ += LoginThrottle::kOfPair.forgotten_after + 1s;
  fail(1, "10.0.0.9");
  fail(1);
  EXPECT_EQ(pause(), 0s);
}

// One failure is forgiven each minute, whenever in these minutes the failures occur.
TEST_F(LoginThrottleTest, FailuresOfOneHost_SomewhatMoreOftenThanTheyAreForgiven_HardlyAddUp) {
  for (int i = 0; i < kSharedFree; ++i) {
    now_ += 55s;
    fail(1, "10.0.0.1", "admin.user" + std::to_string(i));
  }
  EXPECT_EQ(pause("10.0.0.1", "admin.another"), 0s);
}

TEST_F(LoginThrottleTest, ManyUsersOfOneHost_BrakeIt_ButWhoHasLoggedInThere) {
  succeed("10.0.0.1", "admin.app");
  for (int i = 0; i < kSharedFree; ++i) fail(1, "10.0.0.1", "admin.user" + std::to_string(i));
  EXPECT_GT(pause("10.0.0.1", "admin.another"), 0s);
  EXPECT_EQ(pause("10.0.0.1", "admin.app"), 0s);
  EXPECT_EQ(pause("10.0.0.2", "admin.another"), 0s);
}

TEST_F(LoginThrottleTest, ManyHostsForOneUser_BrakeIt_ButWhereItHasLoggedIn) {
  succeed("10.0.0.1");
  for (int i = 0; i < kSharedFree; ++i) fail(1, "10.1.0." + std::to_string(i));
  EXPECT_GT(pause("10.2.0.1"), 0s);
  EXPECT_EQ(pause("10.0.0.1"), 0s);
  EXPECT_EQ(pause("10.2.0.1", "admin.other"), 0s);
}

TEST_F(LoginThrottleTest, OneFailureAMinute_NeverBrakesAHost) {
  for (int i = 0; i < 300; ++i) {
    now_ += 61s;
    fail(1, "10.0.0.1", "admin.outdated");
  }
  EXPECT_EQ(pause("10.0.0.1", "admin.another"), 0s);
}

TEST_F(LoginThrottleTest, NamesThatDoNotExist_AreBraked_AndHaveNoOtherForgotten) {
  fail(10);
  const Clock::duration before = pause();
  ASSERT_GT(before, 0s);
  for (size_t i = 0; i < LoginThrottle::kOfPair.keys_max + 100; ++i) {
    fail(1, "10.0.0.2", "admin.nobody" + std::to_string(i));
  }
  EXPECT_EQ(pause(), before);
  fail(10, "10.0.0.3", "admin.nobody");
  EXPECT_EQ(pause("10.0.0.3", "admin.nobody"), before);
}

TEST_F(LoginThrottleTest, ManyPairs_DropTheOldest) {
  fail(10);
  for (size_t i = 0; i < LoginThrottle::kOfPair.keys_max; ++i) {
    fail(1, "host" + std::to_string(i), "admin.user" + std::to_string(i));
  }
  EXPECT_EQ(pause(), 0s);
}

}  // namespace
}  // namespace gridmount::wire
