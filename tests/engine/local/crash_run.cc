#include "tests/engine/local/crash_run.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/local/owner_file.h"
#include "tests/engine/local/crash_disk.h"
#include "tests/engine/local/crash_folder.h"
#include "tests/engine/local/write_recorder.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

// The others are those of power losses.
constexpr uint64_t kKillsOneOf = 4;
// A broken tree may have its process go round in circles, or wait for ever.
constexpr unsigned kImageSeconds = 60;
constexpr unsigned kRecordingSeconds = 120;
constexpr int kImagesPerRecording = 40;
constexpr const char* kStore = "store";

// By the number of a step: what holds after it.
using History = std::vector<Facts>;

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// One workload and its recording.
class Workload {
 public:
  Workload(const CrashRun& run, fs::path folder, uint64_t seed)
      : run_(run), folder_(std::move(folder)), random_(seed), subject_(run.make_subject()) {}

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
  History history_ = {Facts()};
};

void Workload::open(bool create) {
  must(subject_->open(folder_ / kStore, create, run_.recording));
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
  Facts facts = history_.back();
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
  history_.push_back(std::move(facts));
  const bool was_beside = beside.valid();
  if (was_beside) must(beside.get());
  if (durable || was_beside) recorder.note(EventKind::kDurable, before + (durable ? 1 : 0));
}

// What the disk may hold between steps that share a commit is known by their order: all up to one.
bool Workload::steps_of_several() {
  WriteRecorder& recorder = WriteRecorder::instance();
  CrashSubject::Watcher watcher;
  watcher.begins = [&] {
    recorder.note(EventKind::kStepBegins, history_.size());
    return static_cast<uint64_t>(history_.size());
  };
  watcher.changed = [&](const Facts& facts) { history_.push_back(facts); };
  watcher.ended = [&](uint64_t number) { recorder.note(EventKind::kStepEnds, number); };
  Facts facts = history_.back();
  const int writers = 1 + static_cast<int>(random_() % 4);
  return must(subject_->steps_of_several(writers, random_, facts, watcher));
}

void Workload::checkpoint_beside_writers() {
  WriteRecorder& recorder = WriteRecorder::instance();
  steps(1, false);  // so that there is something to do
  const uint64_t step = history_.size() - 1;
  recorder.hold_sync_of(std::string(kStore) + "/data.mdb");
  std::future<Status> status =
      std::async(std::launch::async, [&] { return subject_->checkpoint(); });
  // There is none to be taken if one was that the log has wished for.
  const auto wait_until_held = [&] {
    while (!recorder.holds_sync()) {
      if (status.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready) return;
    }
  };
  wait_until_held();
  // What is asked for meanwhile the log may answer, or the next checkpoint.
  std::vector<std::future<void>> requests;
  const auto steps_and_requests = [&] {
    // Sometimes more than the log has room for.
    for (uint64_t left = random_() % (random_() % 2 == 0 ? 6 : 24); left > 0; --left) {
      steps(1, false);
      if (random_() % 4 != 0) requests.push_back(ask_for_durability());
    }
  };
  steps_and_requests();
  recorder.hold_sync_of(std::string(kStore) + "/checkpoint");
  recorder.release();
  wait_until_held();
  steps_and_requests();
  recorder.hold_sync_of("");
  recorder.release();
  must(status.get());
  recorder.note(EventKind::kDurable, step);
  for (std::future<void>& request : requests) request.get();
}

// Gives it the time that it needs if it waits for nobody.
std::future<void> Workload::ask_for_durability() {
  constexpr std::chrono::milliseconds kUntilItWaits{2};
  std::future<void> request = std::async(std::launch::async, [this, step = history_.size() - 1] {
    must(subject_->make_durable());
    WriteRecorder::instance().note(EventKind::kDurable, step);
  });
  (void)request.wait_for(kUntilItWaits);
  return request;
}

// Requests that come while a record is synced, if the log is what answers the first.
void Workload::log_beside_writers() {
  WriteRecorder& recorder = WriteRecorder::instance();
  must(subject_->checkpoint());
  recorder.note(EventKind::kDurable, history_.size() - 1);
  steps(1, false);
  recorder.hold_sync_of(std::string(kStore) + "/redo");
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
    // Some age first, so that there are free pages to use again.
    open(true);
    steps(20 + random_() % 20, true);
    close();
    recorder.start(folder_);
    recorder.note(EventKind::kDurable, history_.size() - 1);
  }
  for (uint64_t sessions = 1 + random_() % (from_the_making ? 1 : 3); sessions > 0; --sessions) {
    open(false);
    for (uint64_t rounds = 1 + random_() % 4; rounds > 0; --rounds) {
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
  if (must(subject_->compact(folder_ / kStore))) {
    WriteRecorder::instance().note(EventKind::kDurable, history_.size() - 1);
  }
}

// The states that the promises allow at a cut of the recording.
struct Allowed {
  bool made = false;  // a store is there for certain
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

// One image in its folder. Empty, or what is wrong.
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
    if (*found != history_[step]) continue;
    facts_ = *found;
    return "";
  }
  for (uint64_t step = 0; step < allowed_.oldest; ++step) {
    if (*found == history_[step]) {
      return "these are the contents of step " + std::to_string(step) + ", but step " +
             std::to_string(allowed_.oldest) + " was durable";
    }
  }
  return "these are the contents of no step from " + std::to_string(allowed_.oldest) + " to " +
         std::to_string(allowed_.newest) +
         "; against the first: " + difference(history_[allowed_.oldest], *found) +
         "; against the last: " + difference(history_[allowed_.newest], *found);
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

// Images of one recording, tried in children.
class Trials {
 public:
  Trials(const CrashRun& run, const History& history, fs::path folder, uint64_t seed, int count);
  ~Trials() { ::munmap(progress_, sizeof *progress_); }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  void run(CrashRunResult& result);

 private:
  // Tries images from that one on. Never returns.
  [[noreturn]] void work(size_t first, int out);
  // Makes an image of the disk. Whether it is that of a kill.
  bool make(const CrashDisk& disk, std::mt19937_64& random, const fs::path& folder) const;
  std::string keep(const fs::path& image) const;
  // Works on the store of the image, and makes another in its place, of a power loss or a kill
  // meanwhile, which it examines. The recording is not what it was after this.
  std::string live_on(const CrashDisk& disk, size_t cut, bool killed, const Allowed& allowed,
                      std::mt19937_64& random);

  const CrashRun& run_;
  const History& history_;
  const fs::path folder_;
  const uint64_t seed_;
  std::vector<size_t> cuts_;  // ascending, of each image
  // Shared with the children.
  struct Progress {
    size_t image;  // that is being tried
    size_t next;   // to be tried by the next of them
  };
  Progress* progress_;
};

Trials::Trials(const CrashRun& run, const History& history, fs::path folder, uint64_t seed,
               int count)
    : run_(run), history_(history), folder_(std::move(folder)), seed_(seed) {
  std::mt19937_64 random(seed);
  const size_t events = WriteRecorder::instance().events().size();
  for (int i = 0; i < count; ++i) cuts_.push_back(1 + random() % events);
  std::sort(cuts_.begin(), cuts_.end());
  void* const shared =
      ::mmap(nullptr, sizeof *progress_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  progress_ = static_cast<Progress*>(shared);
}

bool Trials::make(const CrashDisk& disk, std::mt19937_64& random, const fs::path& folder) const {
  if (random() % kKillsOneOf != 0) {
    write_image(disk.image(random), folder);
    return false;
  }
  write_image(disk.whole(), folder);
  // The files are the ones that their last owner had open, on the same machine.
  const fs::path owner = folder / kStore / "owner";
  std::ifstream file(owner, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::optional<OwnerMark> mark = parse_owner_mark(text);
  struct stat data {};
  if (!mark || ::stat((folder / kStore / "data.mdb").c_str(), &data) != 0) return true;
  mark->boot_id = run_.opening.boot_id.empty() ? running_boot_id() : run_.opening.boot_id;
  if (mark->data_inode != 0) mark->data_inode = data.st_ino;
  std::ofstream(owner, std::ios::binary) << format_owner_mark(*mark);
  return true;
}

void Trials::work(size_t first, int out) {
  CrashDisk disk(WriteRecorder::instance());
  const fs::path folder = folder_ / "image";
  std::string problem;
  bool has_lived = false;
  for (size_t i = first; i < cuts_.size() && problem.empty() && !has_lived; ++i) {
    *progress_ = {i, i + 1};
    ::alarm(kImageSeconds);
    disk.advance(cuts_[i]);
    std::mt19937_64 random(seed_ + i + 1);
    const bool killed = make(disk, random, folder);
    const Allowed allowed = allowed_at(WriteRecorder::instance().events(), cuts_[i], killed);
    has_lived = allowed.made && random() % static_cast<uint64_t>(run_.second_lives_one_of) == 0;
    problem = has_lived ? live_on(disk, cuts_[i], killed, allowed, random)
                        : Examination(run_, history_, allowed, folder / kStore, random()).run();
  }
  std::fflush(stdout);
  const ssize_t written = ::write(out, problem.data(), problem.size());
  ::_exit(written == static_cast<ssize_t>(problem.size()) ? 0 : 1);
}

std::string Trials::live_on(const CrashDisk& disk, size_t cut, bool killed, const Allowed& allowed,
                            std::mt19937_64& random) {
  WriteRecorder& recorder = WriteRecorder::instance();
  const fs::path folder = folder_ / "image";
  if (killed) {
    recorder.resume(cut, folder, disk.whole_entries());
  } else {
    recorder.start(folder);
  }
  const size_t begins = recorder.events().size();
  const std::unique_ptr<CrashSubject> subject = run_.make_subject();
  const Status opened = subject->open(folder / kStore, false, run_.opening);
  if (!opened) return "opening for a second life: " + opened.error().message();
  const size_t is_open = recorder.events().size();
  const Result<Facts> found = subject->read();
  if (!found) return "reading in a second life: " + found.error().message();
  uint64_t step = allowed.newest;
  while (step > allowed.oldest && history_[step] != *found) --step;
  if (history_[step] != *found) return "a second life begins with the contents of no step";

  History history = {*found};
  if (killed) {
    history.assign(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(step) + 1);
  }
  recorder.note(EventKind::kDurable, history.size() - 1);
  for (uint64_t left = random() % 10; left > 0; --left) {
    Facts facts = history.back();
    recorder.note(EventKind::kStepBegins, history.size());
    const Result<bool> durable = subject->step(random, facts, true);
    if (!durable) return "writing in a second life: " + durable.error().message();
    recorder.note(EventKind::kStepEnds, history.size());
    if (*durable) recorder.note(EventKind::kDurable, history.size());
    history.push_back(std::move(facts));
  }
  if (const Status closed = subject->close(); !closed) {
    return "closing a second life: " + closed.error().message();
  }
  recorder.note(EventKind::kDurable, history.size() - 1);
  recorder.stop();

  const size_t ends = random() % 2 == 0 ? is_open : recorder.events().size();
  const size_t second_cut = begins + random() % (ends - begins + 1);
  CrashDisk second_disk(recorder);
  second_disk.advance(second_cut);
  // After a kill the recording has not the mark that the image had.
  const bool killed_again = !killed && random() % 3 == 0;
  write_image(killed_again ? second_disk.whole() : second_disk.image(random), folder);
  Allowed second = allowed_at(recorder.events(), second_cut, killed_again);
  second.made = true;
  second.newest = std::min<uint64_t>(second.newest, history.size() - 1);
  CrashRun run = run_;
  if (!killed_again) run.opening.boot_id = "a later boot";
  const std::string problem = Examination(run, history, second, folder / kStore, random()).run();
  return problem.empty() ? "" : "after a second life: " + problem;
}

// The image as it was, made once more, for whoever looks into it.
std::string Trials::keep(const fs::path& kept) const {
  CrashDisk disk(WriteRecorder::instance());
  disk.advance(cuts_[progress_->image]);
  std::mt19937_64 random(seed_ + progress_->image + 1);
  make(disk, random, kept);
  return kept.string();
}

void Trials::run(CrashRunResult& result) {
  size_t next = 0;
  while (next < cuts_.size()) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
    std::cout.flush();
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipe[0]);
      work(next, pipe[1]);
    }
    ::close(pipe[1]);
    std::string problem;
    std::array<char, 4096> buffer{};
    ssize_t count;
    while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
      problem.append(buffer.data(), static_cast<size_t>(count));
    }
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) problem += " [the process ended with status " + std::to_string(status) + "]";
    next = progress_->next;
    if (problem.empty()) continue;
    ++result.broken;
    if (result.first.empty()) {
      result.first = problem + "\n  (cut at event " + std::to_string(cuts_[progress_->image]) +
                     " of " + std::to_string(WriteRecorder::instance().events().size()) + ")";
      const char* const kept = std::getenv("GRIDMOUNT_CRASH_KEEP");
      if (kept != nullptr) result.first += "\n  kept in " + keep(kept);
    }
  }
  result.images += static_cast<int>(cuts_.size());
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
  constexpr uint64_t kFromTheMaking = 4;  // one recording of so many
  const fs::path folder = make_crash_folder();
  CrashRunResult result;
  for (uint64_t number = 0; result.images < run.images; ++number) {
    fs::remove_all(folder / "recorded");
    fs::create_directory(folder / "recorded");
    std::mt19937_64 random(seed + number);
    Workload workload(run, folder / "recorded", random());
    ::alarm(kRecordingSeconds);
    workload.record(number % kFromTheMaking == 0);
    ::alarm(0);
    const int count = std::min(kImagesPerRecording, run.images - result.images);
    Trials(run, workload.history(), folder, random(), count).run(result);
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
