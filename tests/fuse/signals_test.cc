// Goal: each signal has its effect, and an action that hangs does not delay other signals.
// Method: signals to this process, blocked as main() blocks them.
#include "command_line/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

namespace gridmount::fuse {
namespace {

using namespace std::chrono_literals;

// Counts how often an action was called.
class Calls {
 public:
  std::function<void()> counter() {
    return [this] { ++calls_; };
  }
  bool come_to(int wanted) const {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (calls_ < wanted && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    return calls_ == wanted;
  }
  int now() const { return calls_; }

 private:
  std::atomic<int> calls_{0};
};

class SignalsTest : public testing::Test {
 protected:
  void SetUp() override { block_signals(); }

  SignalActions actions(SighupAction on_sighup) {
    return {.stop = stops_.counter(),
            .on_sighup = on_sighup,
            .reopen_log = reopened_.counter(),
            .report = reports_.counter()};
  }

  Calls stops_;
  Calls reopened_;
  Calls reports_;
};

TEST_F(SignalsTest, Terminate_Stops) {
  const Signals signals(actions(SighupAction::kIgnores));
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(stops_.come_to(1));
}

TEST_F(SignalsTest, HangUp_DoesAsItIsTold) {
  {
    const Signals signals(actions(SighupAction::kReopensLog));
    kill(getpid(), SIGHUP);
    EXPECT_TRUE(reopened_.come_to(1));
  }
  {
    const Signals signals(actions(SighupAction::kIgnores));
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGUSR1);
    EXPECT_TRUE(reports_.come_to(1));
  }
  EXPECT_EQ(stops_.now(), 0);
  {
    const Signals signals(actions(SighupAction::kStops));
    kill(getpid(), SIGHUP);
    EXPECT_TRUE(stops_.come_to(1));
  }
  EXPECT_EQ(reopened_.now(), 1);
}

TEST_F(SignalsTest, HangingReport_KeepsNothingFromItsTurn) {
  std::promise<void> released;
  SignalActions actions = this->actions(SighupAction::kIgnores);
  actions.report = [&, count = reports_.counter()] {
    count();
    released.get_future().wait();
  };
  const Signals signals(std::move(actions));
  kill(getpid(), SIGUSR1);
  ASSERT_TRUE(reports_.come_to(1));
  kill(getpid(), SIGUSR1);
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(stops_.come_to(1));
  EXPECT_EQ(reports_.now(), 1);
  released.set_value();
}

TEST_F(SignalsTest, AfterTheActions_TheFirstIsNoted) {
  Signals signals(actions(SighupAction::kStops));
  signals.end_actions();
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGUSR1);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(stops_.now(), 0);
  EXPECT_EQ(reports_.now(), 0);
}

TEST_F(SignalsTest, AfterTheActions_ASecondEndsTheProcess) {
  // The child starts threads, which is not allowed after a fork of a process with threads.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_twice = [&] {
    block_signals();
    Signals signals(actions(SighupAction::kStops));
    kill(getpid(), SIGTERM);
    if (stops_.come_to(1)) signals.end_actions();
    kill(getpid(), SIGINT);
    std::this_thread::sleep_for(20s);
    _exit(0);
  };
  EXPECT_EXIT(end_twice(), testing::ExitedWithCode(128 + SIGINT), "");
}

TEST_F(SignalsTest, WakeSignal_DoesNothing) {
  const Signals signals(actions(SighupAction::kStops));
  kill(getpid(), wake_signal());
  kill(getpid(), SIGUSR1);
  EXPECT_TRUE(reports_.come_to(1));
  EXPECT_EQ(stops_.now(), 0);
}

}  // namespace
}  // namespace gridmount::fuse
