#include "tests/engine/local/crash/fault_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <random>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/engine/local/crash/crash_folder.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWorkSeed = 7;
constexpr unsigned kChildSeconds = 30;
constexpr uint64_t kProblemsShown = 5;

// A worker's report, in memory that outlives the worker.
struct Report {
  bool fired;
  uint64_t seen;      // the number of calls of the kind
  bool opened;        // the store was made
  uint64_t returned;  // the number of the last acknowledged step
  uint64_t durable;   // the number of the last step promised to be durable
  uint64_t begun;     // the number of the last step that was called
  bool has_failed;    // one of our calls failed
  int code;           // the code of its error
  std::array<char, 1024> message;

  void note(const Error& error) {
    if (has_failed) return;
    has_failed = true;
    code = static_cast<int>(error.code());
    std::strncpy(message.data(), error.message().c_str(), message.size() - 1);
  }
};

// The error codes of a failing system. Any other code is a wrong conclusion.
bool is_clean(int code) {
  constexpr std::array kClean = {ErrorCode::kOutOfDiskSpace, ErrorCode::kIoError,
                                 ErrorCode::kWritesRefused, ErrorCode::kOperationFailed};
  return std::find(kClean.begin(), kClean.end(), static_cast<ErrorCode>(code)) != kClean.end();
}

class FaultRuns {
 public:
  explicit FaultRuns(const FaultRun& run);
  ~FaultRuns();
  FaultRuns(const FaultRuns&) = delete;
  FaultRuns& operator=(const FaultRuns&) = delete;

  // Runs the workload while call `number` fails, and examines the store. Returns what is wrong, or
  // an empty string.
  std::string try_fault(uint64_t number, FaultRunResult& result);
  bool fired() const { return report_->fired; }
  // Returns the number of calls in a run without a fault.
  uint64_t count_calls();

 private:
  // Runs `work` in a child and returns the child's status. Throws std::runtime_error if no child
  // can be made.
  int in_child(const std::function<std::string()>& work, std::string& problem) const;
  std::string work(uint64_t number) const;
  void work_steps(CrashSubject& subject) const;
  std::string examine() const;
  bool is_begun(Facts found) const;
  void learn_history();

  const FaultRun& run_;
  const fs::path folder_;
  Report* report_;
  std::vector<Facts> history_ = {Facts()};  // by step
};

FaultRuns::FaultRuns(const FaultRun& run) : run_(run), folder_(make_crash_folder()) {
  void* const shared =
      ::mmap(nullptr, sizeof *report_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  report_ = static_cast<Report*>(shared);
  learn_history();
}

FaultRuns::~FaultRuns() {
  ::munmap(report_, sizeof *report_);
  fs::remove_all(folder_);
}

// Runs the workload without a fault, and stores the facts after each step.
void FaultRuns::learn_history() {
  const std::unique_ptr<CrashSubject> subject = run_.make_subject();
  std::mt19937_64 random(kWorkSeed);
  Status status = subject->open(folder_ / "whole", true, {});
  for (uint64_t step = 0; status && step < run_.steps; ++step) {
    Facts facts = history_.back();
    const Result<bool> done = subject->step(random, facts, true);
    if (!done) status = fail(done.error());
    history_.push_back(std::move(facts));
  }
  if (status) status = subject->close();
  if (!status) throw std::runtime_error(status.error().message());
}

int FaultRuns::in_child(const std::function<std::string()>& work, std::string& problem) const {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  std::cout.flush();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSeconds);
    ::close(pipe[0]);
    if (run_.may_abort) {  // hides the text that an abort prints
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDERR_FILENO);
    }
    const std::string text = work();
    std::fflush(stdout);
    const ssize_t written = ::write(pipe[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    throw std::runtime_error("no child process");
  }
  std::array<char, 4096> buffer{};
  ssize_t count;
  while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
    problem.append(buffer.data(), static_cast<size_t>(count));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void FaultRuns::work_steps(CrashSubject& subject) const {
  std::mt19937_64 random(kWorkSeed);
  Facts facts;
  for (uint64_t step = 1; step <= run_.steps; ++step) {
    report_->begun = step;
    const Result<bool> done = subject.step(random, facts, true);
    if (!done) return report_->note(done.error());
    report_->returned = step;
    if (*done) report_->durable = step;
  }
}

std::string FaultRuns::work(uint64_t number) const {
  const std::string store = (folder_ / "store").string();
  FaultInjector& injector = FaultInjector::instance();
  const fs::path path = store;
  injector.arm({run_.kind, number, run_.lasting, run_.code}, store.c_str());
  std::unique_ptr<CrashSubject> subject;
  // Like the programs, turns an exception into an error of the one call.
  const auto guarded = [&](auto&& call) {
    try {
      call();
    } catch (const std::bad_alloc&) {
      report_->note(Error(ErrorCode::kOperationFailed, "out of memory"));
    } catch (const std::system_error& error) {
      // No thread could be made.
      report_->note(Error(ErrorCode::kOperationFailed, error.what()));
    }
    report_->fired = injector.fired();
    report_->seen = injector.seen();
  };
  guarded([&] {
    subject = run_.make_subject();
    if (const Status opened = subject->open(path, true, {}); !opened) {
      report_->note(opened.error());
      return;
    }
    report_->opened = true;
  });
  if (!report_->opened) return "";
  guarded([&] { work_steps(*subject); });
  guarded([&] {
    if (const Status closed = subject->close(); !closed) report_->note(closed.error());
  });
  return "";
}

// Returns true if these are the facts after the last acknowledged step, except for the objects that
// the next step was about to change.
bool FaultRuns::is_begun(Facts found) const {
  if (report_->begun == report_->returned) return false;
  Facts before = history_[report_->returned];
  Facts after = history_[report_->begun];
  for (const Facts& facts : {before, after}) {
    for (const auto& [name, value] : facts) {
      if (difference(before, after).empty()) break;
      const auto was = before.find(name);
      const auto is = after.find(name);
      if (was != before.end() && is != after.end() && was->second == is->second) continue;
      if (was != before.end()) before.erase(was);
      if (is != after.end()) after.erase(is);
      found.erase(name);
    }
  }
  return found == before;
}

std::string FaultRuns::examine() const {
  const std::unique_ptr<CrashSubject> subject = run_.make_subject();
  Status opened = subject->open(folder_ / "store", false, {});
  if (!opened && !report_->opened && opened.error().code() == ErrorCode::kStoreNotFound) {
    opened = subject->open(folder_ / "store", true, {});
  }
  if (!opened) return "opening: " + opened.error().message();
  const auto problems = [&]() -> std::string {
    const Result<std::vector<std::string>> found = subject->check();
    if (!found) return "checking: " + found.error().message();
    return found->empty() ? "" : "the check finds: " + found->front();
  };
  if (std::string problem = problems(); !problem.empty()) return problem;
  const Result<Facts> found = subject->read();
  if (!found) return "reading: " + found.error().message();
  const bool may_fall_back = run_.kind == FaultKind::kSync;
  const uint64_t oldest = may_fall_back ? report_->durable : report_->returned;
  uint64_t step = report_->begun;
  while (step > oldest && history_[step] != *found) --step;
  if (history_[step] != *found && !(run_.parts_may_show && is_begun(*found))) {
    return "these are the contents of no step from " + std::to_string(oldest) + " to " +
           std::to_string(report_->begun) +
           "; against the first: " + difference(history_[oldest], *found);
  }
  Facts facts = *found;
  std::mt19937_64 random(step);
  for (int left = 3; left > 0; --left) {
    if (const Result<bool> done = subject->step(random, facts, true); !done) {
      return "writing: " + done.error().message();
    }
  }
  const Result<Facts> after = subject->read();
  if (!after) return "reading again: " + after.error().message();
  if (std::string problem = difference(facts, *after); !problem.empty()) return problem;
  if (std::string problem = problems(); !problem.empty()) return "after writing " + problem;
  const Status closed = subject->close();
  return closed ? "" : "closing: " + closed.error().message();
}

uint64_t FaultRuns::count_calls() {
  FaultRunResult unused;
  const std::string problem = try_fault(UINT64_MAX, unused);
  if (!problem.empty()) throw std::runtime_error("without a fault, " + problem);
  return std::max<uint64_t>(report_->seen, 1);
}

std::string FaultRuns::try_fault(uint64_t number, FaultRunResult& result) {
  fs::remove_all(folder_ / "store");
  *report_ = {};
  std::string problem;
  const int status = in_child([&] { return work(number); }, problem);
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  if (aborted) {
    report_->fired = true;
    ++result.aborted;
  }
  if (status != 0 && !(aborted && run_.may_abort)) {
    problem += "the process ended with status " + std::to_string(status);
  } else if (report_->has_failed && !is_clean(report_->code)) {
    problem += "an error that does not say what happened (" + std::to_string(report_->code) + ")";
  } else if (report_->has_failed && !report_->fired) {
    problem += "an error without a fault";
  }
  if (problem.empty()) {
    const int examined = in_child([&] { return examine(); }, problem);
    if (examined != 0)
      problem += " [the process ended with status " + std::to_string(examined) + "]";
    if (!problem.empty()) problem = "afterwards, " + problem;
  }
  if (problem.empty()) return "";
  return problem + "\n  at call " + std::to_string(number) + "; steps called " +
         std::to_string(report_->begun) + ", acknowledged " + std::to_string(report_->returned) +
         ", durable " + std::to_string(report_->durable) + "; error: " + report_->message.data();
}

}  // namespace

FaultRunResult run_faults(const FaultRun& run) {
  FaultRuns runs(run);
  const char* const given = std::getenv("GRIDMOUNT_FAULTS");
  const uint64_t runs_max =
      std::max<uint64_t>(1, given == nullptr ? run.runs_max : std::strtoull(given, nullptr, 10));
  const uint64_t calls = runs.count_calls();
  const uint64_t stride = (calls + runs_max - 1) / runs_max;
  FaultRunResult result;
  if (const char* const at = std::getenv("GRIDMOUNT_FAULT_AT")) {
    result.first = runs.try_fault(std::strtoull(at, nullptr, 10), result);
    result.broken = result.first.empty() ? 0 : 1;
    result.runs = 1;
    return result;
  }
  // The loop ends at the first call that is not reached, because the number of calls varies.
  for (uint64_t number = 1 + std::random_device()() % stride; number <= 2 * calls;
       number += stride) {
    const std::string problem = runs.try_fault(number, result);
    if (!problem.empty()) {
      ++result.broken;
      if (!result.first.empty()) result.first += "\n";
      if (result.broken <= kProblemsShown) result.first += problem;
    }
    if (!runs.fired()) break;
    ++result.runs;
  }
  std::cout << result.runs << " of " << calls << " calls failed, " << result.aborted
            << " of them ended the process, " << result.broken << " did harm" << std::endl;
  return result;
}

}  // namespace gridmount::local::testing
