// Goal: a crash of work on a damaged store is told apart from a signal of another process.
// Method: work that ends itself with each signal.
#include "tools/gridstore/guarded_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

namespace gridmount::tools {
namespace {

// The place and the status that run_guarded() gives for work that a signal ends. The place is empty
// if the signal does not count as a crash.
struct Ended {
  ExitStatus status;
  std::string place;
};

Ended ended_by(int number) {
  Ended ended{};
  ended.status = run_guarded(
      [&](Whereabouts& whereabouts) {
        whereabouts.at("a page");
        ::signal(number, SIG_DFL);
        ::raise(number);
        return ExitStatus::kOk;
      },
      [&](const std::string&, const std::string& place) {
        ended.place = place;
        return ExitStatus::kStructureDamaged;
      });
  return ended;
}

TEST(GuardedRun, Crash_IsReportedWithItsPlace) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    const Ended ended = ended_by(number);
    EXPECT_EQ(ended.status, ExitStatus::kStructureDamaged) << number;
    EXPECT_EQ(ended.place, "a page") << number;
  }
}

// The kernel sends SIGKILL when memory runs out. The store may be sound.
TEST(GuardedRun, SignalFromOutside_IsNoDamage) {
  for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGXCPU}) {
    ::testing::internal::CaptureStderr();
    const Ended ended = ended_by(number);
    const std::string message = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(ended.status, ExitStatus::kFailure) << number;
    EXPECT_EQ(ended.place, "") << number;
    EXPECT_NE(message.find("reading a page"), std::string::npos) << message;
  }
}

TEST(GuardedRun, Status_IsPassedOn) {
  const ExitStatus status = run_guarded(
      [](Whereabouts&) { return ExitStatus::kContentDamaged; },
      [](const std::string&, const std::string&) { return ExitStatus::kStructureDamaged; });
  EXPECT_EQ(status, ExitStatus::kContentDamaged);
}

}  // namespace
}  // namespace gridmount::tools
