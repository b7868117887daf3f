#include "tests/engine/local/crash/crash_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/engine/local/crash/crash_disk.h"
#include "tests/engine/local/crash/crash_folder.h"
#include "tests/engine/local/crash/write_recorder.h"
#include "tests/must.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kRecordingSeconds = 120;
constexpr int kImagesPerRecording = 40;

// The facts after each step, indexed by the number of the step. The pointers are shared, because
// second lives copy the history.
using History = std::vector<std::shared_ptr<const Facts>>;

std::shared_ptr<const Facts> kept(Facts facts) {
  return std::make_shared<const Facts>(std::move(facts));
}

// One workload and its recording.
class Workload {
 public:
  Workload(const CrashRun& run, fs::path folder, uint64_t seed)
      : run_(run),
        folder_(std::move(folder)),
        random_(seed),
        subject_(run.make_subject()),
        recording_(run.recording) {
    // In most workloads, a batch may begin after at most two small transactions.
    if (random_() % 4 != 0) recording_.small_before_batch = static_cast<int>(random_() % 3);
  }

  void record(bool from_the_making);
  const History& history() const { return history_; }

 private:
  void open(bool create);
  void close();
  void steps(uint64_t count, bool may_be_durable);
  void step(bool may_be_durable);
  bool steps_of_several();
  void checkpoint_beside_writers();
  void log_beside_writers();
  std::future<void> ask_for_durability();
  void compact();

  const CrashRun& run_;
  const fs::path folder_;
  std::mt19937_64 random_;
  std::unique_ptr<CrashSubject> subject_;
  TestOptions recording_;
  History history_ = {kept({})};
};

void Workload::open(bool create) {
  must(subject_->open(folder_ / kCrashStore, create, recording_));
  WriteRecorder::instance().note(EventKind::kDurable, history_.size() - 1);
}

void Workload::close() {
  must(subject_->close());
  WriteRecorder::instance().note(EventKind::kDurable, history_.size() - 1);
}

void Workload::steps(uint64_t count, bool may_be_durable) {
  constexpr uint64_t kSeveralOneOf = 6;
  for (uint64_t i = 0; i < count; ++i) {
    if (random_() % kSeveralOneOf == 0 && steps_of_several()) continue;
    step(may_be_durable);
  }
}

void Workload::step(bool may_be_durable) {
  Facts facts = *history_.back();
  // Sometimes a checkpoint falls into the middle of a step that has several commits.
  const uint64_t before = history_.size() - 1;
  std::future<Status> beside;
  if (may_be_durable && random_() % 6 == 0) {
    beside = std::async(std::launch::async, [&] { return subject_->make_durable(); });
  }
  WriteRecorder& recorder = WriteRecorder::instance();
  recorder.note(EventKind::kStepBegins, before + 1);
  const bool durable = must(subject_->step(random_, facts, may_be_durable));
  recorder.note(EventKind::kStepEnds, before + 1);
  history_.push_back(kept(std::move(facts)));
  const bool was_beside = beside.valid();
  if (was_beside) must(beside.get());
  if (durable || was_beside) recorder.note(EventKind::kDurable, before + (durable ? 1 : 0));
}

// Steps that share a commit have an order, so the disk may hold all steps up to any of them.
bool Workload::steps_of_several() {
  WriteRecorder& recorder = WriteRecorder::instance();
  CrashSubject::Watcher watcher;
  watcher.begins = [&] {
    recorder.note(EventKind::kStepBegins, history_.size());
    return static_cast<uint64_t>(history_.size());
  };
  watcher.changed = [&](const Facts& facts) { history_.push_back(kept(facts)); };
  watcher.ended = [&](uint64_t number) { recorder.note(EventKind::kStepEnds, number); };
  Facts facts = *history_.back();
  const int writers = 1 + static_cast<int>(random_() % 4);
  return must(subject_->steps_of_several(writers, random_, facts, watcher));
}

void Workload::checkpoint_beside_writers() {
  WriteRecorder& recorder = WriteRecorder::instance();
  steps(1, false);  // so that there is something to do
  const uint64_t step = history_.size() - 1;
  recorder.hold_sync_of(std::string(kCrashStore) + "/data.mdb");
  std::future<Status> status =
      std::async(std::launch::async, [&] { return subject_->checkpoint(); });
  // There is no sync to hold if the log has already asked for that checkpoint.
  const auto wait_until_held = [&] {
    while (!recorder.holds_sync()) {
      if (status.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready) return;
    }
  };
  wait_until_held();
  // The log or the next checkpoint answers requests that are made meanwhile.
  std::vector<std::future<void>> requests;
  const auto steps_and_requests = [&] {
    // Sometimes the steps need more space than the log has.
    for (uint64_t left = random_() % (random_() % 2 == 0 ? 6 : 24); left > 0; --left) {
      steps(1, false);
      if (random_() % 4 != 0) requests.push_back(ask_for_durability());
    }
  };
  steps_and_requests();
  recorder.hold_sync_of(std::string(kCrashStore) + "/checkpoint");
  recorder.release();
  wait_until_held();
  steps_and_requests();
  recorder.hold_sync_of("");
  recorder.release();
  must(status.get());
  recorder.note(EventKind::kDurable, step);
  for (std::future<void>& request : requests) request.get();
}

// Starts a request, and waits for the time that it needs if nothing blocks it.
std::future<void> Workload::ask_for_durability() {
  constexpr std::chrono::milliseconds kUntilItWaits{2};
  std::future<void> request = std::async(std::launch::async, [this, step = history_.size() - 1] {
    must(subject_->make_durable());
    WriteRecorder::instance().note(EventKind::kDurable, step);
  });
  (void)request.wait_for(kUntilItWaits);
  return request;
}

// Makes durable requests that arrive while a record is synced, if the log answers the first one.
void Workload::log_beside_writers() {
  WriteRecorder& recorder = WriteRecorder::instance();
  must(subject_->checkpoint());
  recorder.note(EventKind::kDurable, history_.size() - 1);
  steps(1, false);
  recorder.hold_sync_of(std::string(kCrashStore) + "/redo");
  std::vector<std::future<void>> requests;
  for (uint64_t left = 1 + random_() % 4; left > 0; --left) {
    requests.push_back(ask_for_durability());
    steps(random_() % 3, false);
  }
  recorder.hold_sync_of("");
  recorder.release();
  for (std::future<void>& request : requests) request.get();
}

void Workload::record(bool from_the_making) {
  WriteRecorder& recorder = WriteRecorder::instance();
  recorder.ignore_folder_syncs(!run_.syncs_folders);
  if (from_the_making) {
    recorder.start(folder_);
    open(true);
    steps(random_() % 4, true);
    if (random_() % 2 == 0) checkpoint_beside_writers();
    close();
    compact();
  } else {
    // First uses the store for a while, so that there are free pages to reuse.
    open(true);
    steps(20 + random_() % 20, true);
    close();
    recorder.start(folder_);
    recorder.note(EventKind::kDurable, history_.size() - 1);
  }
  for (uint64_t sessions = 1 + random_() % (from_the_making ? 1 : 3); sessions > 0; --sessions) {
    open(false);
    for (uint64_t rounds = run_.length * (1 + random_() % 4); rounds > 0; --rounds) {
      if (run_.has_long_runs && random_() % 4 == 0) {
        steps(10 + random_() % 30, false);
        ask_for_durability().get();
      }
      steps(random_() % 8, true);
      if (random_() % 2 == 0) log_beside_writers();
      steps(random_() % 8, true);
      if (random_() % 2 == 0) checkpoint_beside_writers();
    }
    steps(random_() % 8, true);
    close();
    if (random_() % 4 == 0) compact();
  }
  recorder.stop();
}

void Workload::compact() {
  if (must(subject_->compact(folder_ / kCrashStore))) {
    WriteRecorder::instance().note(EventKind::kDurable, history_.size() - 1);
  }
}

// The states that the promises allow at a cut of the recording.
struct Allowed {
  bool made = false;  // the store must exist
  uint64_t oldest = 0;
  uint64_t newest = 0;
};

Allowed allowed_at(const std::vector<Event>& events, size_t cut, bool killed) {
  Allowed allowed;
  for (size_t i = 0; i < cut; ++i) {
    if (events[i].kind == EventKind::kDurable) {
      allowed.made = true;
      allowed.oldest = std::max(allowed.oldest, events[i].number);
    } else if (events[i].kind == EventKind::kStepEnds && killed) {
      allowed.oldest = std::max(allowed.oldest, events[i].number);
    } else if (events[i].kind == EventKind::kStepBegins) {
      allowed.newest = events[i].number;
    }
  }
  allowed.newest = std::max(allowed.newest, allowed.oldest);
  return allowed;
}

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

// Examines one image in its folder. Returns what is wrong, or an empty string.
class Examination {
 public:
  Examination(const CrashRun& run, const History& history, const Allowed& allowed, fs::path store,
              uint64_t seed)
      : run_(run),
        history_(history),
        allowed_(allowed),
        store_(std::move(store)),
        random_(seed),
        subject_(run.make_subject()) {}

  std::string run();

 private:
  std::string open_first();
  std::string find_state();
  std::string compare(const char* when);
  std::string check(const char* when);
  std::string go_on();

  const CrashRun& run_;
  const History& history_;
  const Allowed& allowed_;
  const fs::path store_;
  std::mt19937_64 random_;
  std::unique_ptr<CrashSubject> subject_;
  Facts facts_;
};

std::string Examination::open_first() {
  const Status opened = subject_->open(store_, false, run_.opening);
  if (opened) return "";
  if (allowed_.made || opened.error().code() != ErrorCode::kStoreNotFound) {
    return "opening: " + opened.error().message();
  }
  const Status made = subject_->open(store_, true, run_.opening);
  return made ? "" : "making it again: " + made.error().message();
}

std::string Examination::find_state() {
  const Result<Facts> found = subject_->read();
  if (!found) return "reading: " + found.error().message();
  for (uint64_t step = allowed_.newest + 1; step-- > allowed_.oldest;) {
    if (*found != *history_[step]) continue;
    facts_ = *found;
    return "";
  }
  for (uint64_t step = 0; step < allowed_.oldest; ++step) {
    if (*found == *history_[step]) {
      return "these are the contents of step " + std::to_string(step) + ", but step " +
             std::to_string(allowed_.oldest) + " was durable";
    }
  }
  return "these are the contents of no step from " + std::to_string(allowed_.oldest) + " to " +
         std::to_string(allowed_.newest) +
         "; against the first: " + difference(*history_[allowed_.oldest], *found) +
         "; against the last: " + difference(*history_[allowed_.newest], *found);
}

std::string Examination::compare(const char* when) {
  const Result<Facts> found = subject_->read();
  if (!found) return std::string(when) + ", reading: " + found.error().message();
  const std::string different = difference(facts_, *found);
  return different.empty() ? "" : std::string(when) + ": " + different;
}

std::string Examination::check(const char* when) {
  const Result<std::vector<std::string>> problems = subject_->check();
  if (!problems) return std::string(when) + ", checking: " + problems.error().message();
  return problems->empty() ? "" : std::string(when) + " the check finds" + list(*problems);
}

std::string Examination::go_on() {
  for (uint64_t steps = 4 + random_() % 12; steps > 0; --steps) {
    const Result<bool> done = subject_->step(random_, facts_, true);
    if (!done) return "writing: " + done.error().message();
    if (random_() % 8 != 0) continue;
    if (const Status durable = subject_->make_durable(); !durable) {
      return "a checkpoint: " + durable.error().message();
    }
  }
  return "";
}

std::string Examination::run() {
  const bool again = random_() % 4 == 0;
  std::string problem = open_first();
  if (problem.empty()) problem = check("at first");
  if (problem.empty()) problem = find_state();
  if (problem.empty()) problem = go_on();
  if (problem.empty()) problem = compare("after writing");
  if (problem.empty()) problem = check("after writing");
  if (!problem.empty()) return problem;
  if (const Status closed = subject_->close(); !closed) {
    return "closing: " + closed.error().message();
  }
  if (!again) return "";
  if (const Status opened = subject_->open(store_, false, run_.opening); !opened) {
    return "opening again: " + opened.error().message();
  }
  problem = compare("opened again");
  if (problem.empty()) problem = check("opened again");
  if (problem.empty()) problem = go_on();
  if (problem.empty()) problem = compare("after writing again");
  return problem;
}

// Keeps the first recording while a second life is recorded.
class FirstLife {
 public:
  FirstLife() : recording_(WriteRecorder::instance().take()) {}
  ~FirstLife() {
    WriteRecorder::instance().stop();
    WriteRecorder::instance().put_back(std::move(recording_));
  }
  FirstLife(const FirstLife&) = delete;
  FirstLife& operator=(const FirstLife&) = delete;

  const WriteRecorder::Recording& recording() const { return recording_; }

 private:
  WriteRecorder::Recording recording_;
};

// Images of one recording.
class Trials {
 public:
  Trials(const CrashRun& run, const History& history) : run_(run), history_(history) {}

  std::string examine(const CrashTrial& trial) const;

 private:
  // Uses the store of the image, and examines an image of a power loss or a kill during this second
  // use.
  std::string live_on(const CrashTrial& trial, const Allowed& allowed) const;

  const CrashRun& run_;
  const History& history_;
};

std::string Trials::examine(const CrashTrial& trial) const {
  const Allowed allowed = allowed_at(WriteRecorder::instance().events(), trial.cut, trial.killed);
  const bool lives_on =
      allowed.made && trial.random() % static_cast<uint64_t>(run_.second_lives_one_of) == 0;
  if (lives_on) return live_on(trial, allowed);
  return Examination(run_, history_, allowed, trial.folder / kCrashStore, trial.random()).run();
}

std::string Trials::live_on(const CrashTrial& trial, const Allowed& allowed) const {
  WriteRecorder& recorder = WriteRecorder::instance();
  const fs::path& folder = trial.folder;
  std::mt19937_64& random = trial.random;
  const bool killed = trial.killed;
  const std::map<std::string, size_t> entries = trial.disk.whole_entries();
  CrashDisk second_disk = trial.disk;
  const FirstLife first;
  if (killed) {
    recorder.resume(first.recording(), trial.cut, folder, entries);
  } else {
    recorder.start(folder);
    second_disk = CrashDisk(recorder);
  }
  const size_t begins = recorder.events().size();
  const std::unique_ptr<CrashSubject> subject = run_.make_subject();
  const Status opened = subject->open(folder / kCrashStore, false, run_.opening);
  if (!opened) return "opening for a second life: " + opened.error().message();
  const size_t is_open = recorder.events().size();
  const Result<Facts> found = subject->read();
  if (!found) return "reading in a second life: " + found.error().message();
  uint64_t step = allowed.newest;
  while (step > allowed.oldest && *history_[step] != *found) --step;
  if (*history_[step] != *found) return "a second life begins with the contents of no step";

  History history = {kept(*found)};
  if (killed) {
    history.assign(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(step) + 1);
  }
  recorder.note(EventKind::kDurable, history.size() - 1);
  for (uint64_t left = random() % 10; left > 0; --left) {
    Facts facts = *history.back();
    recorder.note(EventKind::kStepBegins, history.size());
    const Result<bool> durable = subject->step(random, facts, true);
    if (!durable) return "writing in a second life: " + durable.error().message();
    recorder.note(EventKind::kStepEnds, history.size());
    if (*durable) recorder.note(EventKind::kDurable, history.size());
    history.push_back(kept(std::move(facts)));
  }
  if (const Status closed = subject->close(); !closed) {
    return "closing a second life: " + closed.error().message();
  }
  recorder.note(EventKind::kDurable, history.size() - 1);
  recorder.stop();

  const size_t ends = random() % 2 == 0 ? is_open : recorder.events().size();
  const size_t second_cut = begins + random() % (ends - begins + 1);
  second_disk.advance(second_cut);
  // If the first life ended with a kill, the recording has another owner mark than the image. So
  // the second life then ends with a power loss.
  const bool killed_again = !killed && random() % 3 == 0;
  write_image(killed_again ? second_disk.whole() : second_disk.image(random), folder);
  Allowed second = allowed_at(recorder.events(), second_cut, killed_again);
  second.made = true;
  second.newest = std::min<uint64_t>(second.newest, history.size() - 1);
  CrashRun run = run_;
  if (!killed_again) run.opening.boot_id = "a later boot";
  const std::string problem =
      Examination(run, history, second, folder / kCrashStore, random()).run();
  return problem.empty() ? "" : "after a second life: " + problem;
}

}  // namespace

std::string difference(const Facts& expected, const Facts& found) {
  const auto is_missing = [](const Facts& facts, const auto& fact) {
    return !facts.contains(fact.first);
  };
  for (const auto& fact : expected) {
    if (is_missing(found, fact)) return "'" + fact.first + "' is missing";
    if (found.at(fact.first) != fact.second) return "'" + fact.first + "' is another";
  }
  for (const auto& fact : found) {
    if (is_missing(expected, fact)) return "'" + fact.first + "' should not be there";
  }
  return "";
}

CrashRunResult run_crash_images(const CrashRun& run, uint64_t seed) {
  constexpr uint64_t kFromTheMaking = 4;  // one in this many recordings
  // In so many recordings, there must be a place to cut them.
  constexpr uint64_t kWithoutImagesMax = 20;
  const fs::path folder = make_crash_folder();
  CrashRunResult result;
  for (uint64_t number = 0; !result.is_done(run.images, run.broken_enough); ++number) {
    fs::remove_all(folder / "recorded");
    fs::create_directory(folder / "recorded");
    std::mt19937_64 random(seed + number);
    Workload workload(run, folder / "recorded", random());
    ::alarm(kRecordingSeconds);
    workload.record(number % kFromTheMaking == 0);
    ::alarm(0);
    if (run.recorded) run.recorded();
    const int count = std::min(kImagesPerRecording, run.images - result.images);
    const Trials trials(run, workload.history());
    try_crash_images(
        folder, {count, random(), run.opening.boot_id, run.kills_one_of, run.while_unsynced},
        [&](const CrashTrial& trial) { return trials.examine(trial); }, result);
    if (result.images == 0 && number + 1 == kWithoutImagesMax) {
      fs::remove_all(folder);
      throw std::runtime_error("no recording can be cut while '" + run.while_unsynced +
                               "' is unsynced");
    }
  }
  fs::remove_all(folder);
  std::cout << result.broken << " of " << result.images << " images broken" << std::endl;
  return result;
}

int crash_image_count(double share) {
  const char* const given = std::getenv("GRIDMOUNT_CRASH_IMAGES");
  const double all = given != nullptr ? std::atof(given) : kSanitized ? 400 : 10'000;
  return std::max(1, static_cast<int>(all * share));
}

uint64_t crash_seed() {
  const char* const given = std::getenv("GRIDMOUNT_CRASH_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "GRIDMOUNT_CRASH_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace gridmount::local::testing
