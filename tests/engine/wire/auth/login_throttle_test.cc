// Goal: guesses become slow, right passwords do not, and memory stays bounded.
#include "engine/wire/auth/login_throttle.h"

#include <gtest/gtest.h>

#include <string>

namespace gridmount::wire {
namespace {

using namespace std::chrono_literals;
using Clock = LoginThrottle::Clock;

class LoginThrottleTest : public ::testing::Test {
 protected:
  void fail(int times, std::string_view address = "10.0.0.1:5000") {
    for (int i = 0; i < times; ++i) throttle_.failed(address, "admin.root", now_);
  }
  Clock::duration pause(std::string_view address = "10.0.0.1:6000",
                        std::string_view user = "admin.root") {
    return throttle_.pause(address, user, now_);
  }

  LoginThrottle throttle_;
  Clock::time_point now_ = Clock::time_point(1h);
};

TEST_F(LoginThrottleTest, Pause_DoublesAfterTheFreeFailures) {
  fail(LoginThrottle::kFreeFailures - 1);
  EXPECT_EQ(pause(), 0s);
  fail(1);
  EXPECT_EQ(pause(), 1s);
  fail(1);
  EXPECT_EQ(pause(), 2s);
  fail(20);
  EXPECT_EQ(pause(), LoginThrottle::kPauseMax);
  now_ += 60s;
  EXPECT_EQ(pause(), 0s);
}

TEST_F(LoginThrottleTest, OtherAddressesAndUsers_AreNotHeldUp) {
  fail(10);
  EXPECT_EQ(pause("10.0.0.2:5000"), 0s);
  EXPECT_EQ(pause("10.0.0.1:5000", "admin.other"), 0s);
  EXPECT_GT(pause("10.0.0.1:1"), 0s);
}

TEST_F(LoginThrottleTest, Success_ForgetsTheFailures) {
  fail(10);
  throttle_.succeeded("10.0.0.1:7", "admin.root");
  EXPECT_EQ(pause(), 0s);
  fail(LoginThrottle::kFreeFailures - 1);
  EXPECT_EQ(pause(), 0s);
}

TEST_F(LoginThrottleTest, OldFailures_AreForgotten) {
  fail(10);
  now_ += LoginThrottle::kForgottenAfter + 1s;
  fail(1, "10.0.0.9:1");
  fail(1);
  EXPECT_EQ(pause(), 0s);
}

TEST_F(LoginThrottleTest, ManyPairs_DropTheOldest) {
  fail(10);
  for (size_t i = 0; i < LoginThrottle::kPairsMax; ++i) {
    throttle_.failed("host" + std::to_string(i) + ":1", "admin.root", now_);
  }
  EXPECT_EQ(pause(), 0s);
}

}  // namespace
}  // namespace gridmount::wire
