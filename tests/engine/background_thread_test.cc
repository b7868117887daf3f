// Goal: a background thread calls its work when it was asked to, and not more often.
// Method: real threads; each call of the work is counted, and a test waits for the count.
#include "engine/base/background_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace gridmount {
namespace {

using std::chrono::milliseconds;
using Clock = BackgroundThread::Clock;

// Longer than any test.
constexpr std::chrono::hours kNever{1};

class BackgroundThreadTest : public testing::Test {
 protected:
  std::optional<Clock::time_point> work() {
    MutexLock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    return std::exchange(next_, std::nullopt);
  }
  void wait_for_calls(int calls) {
    MutexLock lock(mutex_);
    while (calls_ < calls) changed_.wait(mutex_);
  }
  int calls() {
    MutexLock lock(mutex_);
    return calls_;
  }
  // The next call of the work returns this time.
  void set_next(Clock::time_point next) {
    MutexLock lock(mutex_);
    next_ = next;
  }

  Mutex mutex_;
  Condition changed_;
  int calls_ GM_GUARDED_BY(mutex_) = 0;
  std::optional<Clock::time_point> next_ GM_GUARDED_BY(mutex_);
  BackgroundThread thread_{"gm-test", BackgroundThread::Priority::kNormal,
                           [this] { return work(); }};
};

TEST_F(BackgroundThreadTest, Wake_CallsTheWork) {
  thread_.wake();
  wait_for_calls(1);
  thread_.wake();
  wait_for_calls(2);
}

TEST_F(BackgroundThreadTest, WakeBy_CallsTheWorkAtThatTime) {
  const Clock::time_point time = Clock::now() + milliseconds(30);
  thread_.wake_by(time);
  wait_for_calls(1);
  EXPECT_GE(Clock::now(), time);
}

TEST_F(BackgroundThreadTest, WakeBy_BeforeThePlannedCall_MakesItEarlier) {
  thread_.wake_by(Clock::now() + kNever);
  thread_.wake_by(Clock::now() + milliseconds(10));
  wait_for_calls(1);
  set_next(Clock::now() + kNever);
  thread_.wake();
  wait_for_calls(2);
  thread_.wake_by(Clock::now() + milliseconds(10));
  wait_for_calls(3);
}

TEST_F(BackgroundThreadTest, WakeBy_AfterThePlannedCall_AddsNone) {
  const Clock::time_point first = Clock::now() + milliseconds(20);
  thread_.wake_by(first);
  for (int i = 0; i < 100; ++i) thread_.wake_by(first + kNever);
  wait_for_calls(1);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(calls(), 1);
}

// What wake_by() has asked for while the work ran is not lost if the work returns a later time.
TEST_F(BackgroundThreadTest, WakeBy_DuringTheWork_IsKept) {
  std::atomic<int> calls = 0;
  BackgroundThread* self = nullptr;
  BackgroundThread thread("gm-test", BackgroundThread::Priority::kNormal,
                          [&]() -> std::optional<Clock::time_point> {
                            if (++calls == 1) self->wake_by(Clock::now() + milliseconds(10));
                            return Clock::now() + kNever;
                          });
  self = &thread;
  thread.wake();
  while (calls < 2) std::this_thread::sleep_for(milliseconds(1));
}

TEST_F(BackgroundThreadTest, Stop_EndsAThreadThatWaits) {
  thread_.wake_by(Clock::now() + kNever);
  thread_.stop();
  thread_.wake_by(Clock::now());
  EXPECT_EQ(calls(), 0);
}

}  // namespace
}  // namespace gridmount
