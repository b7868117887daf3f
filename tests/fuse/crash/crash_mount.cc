#include "tests/fuse/crash/crash_mount.h"

#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "tests/engine/local/crash/crash_folder.h"
#include "tests/engine/local/crash/write_recorder.h"
#include "tests/fuse/crash/image_comparison.h"
#include "tests/fuse/crash/image_reader.h"
#include "tests/fuse/crash/random_program.h"
#include "tests/fuse/crash/recorded_mount.h"

namespace gridmount::fuse::testing {
namespace {

namespace fs = std::filesystem;
using local::testing::CrashRunResult;
using local::testing::CrashTrial;
using local::testing::WriteRecorder;

constexpr int kImagesPerRecording = 40;
constexpr size_t kCallsMin = 120;
constexpr unsigned kRecordingSeconds = 120;

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

// Examines one image in its folder. Returns what is wrong, or an empty string.
class Examination {
 public:
  Examination(const std::vector<Program>& programs, const MountSettings& settings,
              CrashClock& clock)
      : programs_(programs), settings_(settings), clock_(clock) {}

  std::string run(const CrashTrial& trial);

 private:
  std::string open(const fs::path& store);
  std::string check(const char* when);
  std::string find_state(const CrashTrial& trial);
  std::string compare(const char* when);

  const std::vector<Program>& programs_;
  const MountSettings& settings_;
  CrashClock& clock_;
  std::unique_ptr<ImageReader> reader_;
  FoundTree tree_;
};

std::string Examination::open(const fs::path& store) {
  Result<std::unique_ptr<ImageReader>> reader = ImageReader::open(store, settings_);
  if (!reader) return "opening: " + reader.error().message();
  reader_ = std::move(reader).value();
  return "";
}

std::string Examination::check(const char* when) {
  const Result<std::vector<std::string>> problems = reader_->check();
  if (!problems) return std::string(when) + ", checking: " + problems.error().message();
  return problems->empty() ? "" : std::string(when) + " the check finds" + list(*problems);
}

std::string Examination::find_state(const CrashTrial& trial) {
  Result<FoundTree> found = reader_->read();
  if (!found) return "reading: " + found.error().message();
  tree_ = std::move(found).value();
  const std::vector<local::testing::Event>& events = WriteRecorder::instance().events();
  const uint64_t stamp =
      trial.cut < events.size() ? events[trial.cut].stamp : std::numeric_limits<uint64_t>::max();
  return problem_with_image(programs_, clock_, stamp, trial.killed,
                            static_cast<size_t>(settings_.buckets.bucket.chunk_bytes), tree_);
}

std::string Examination::compare(const char* when) {
  const Result<FoundTree> found = reader_->read();
  if (!found) return std::string(when) + ", reading: " + found.error().message();
  for (const auto& [path, name] : tree_) {
    const auto other = found->find(path);
    if (other == found->end()) return std::string(when) + " '" + path + "' is missing";
    if (other->second.content != name.content) {
      return std::string(when) + " '" + path + "' has another content";
    }
  }
  return found->size() == tree_.size() ? "" : std::string(when) + " there is too much";
}

std::string Examination::run(const CrashTrial& trial) {
  const fs::path store = trial.folder / local::testing::kCrashStore;
  std::string problem = open(store);
  if (problem.empty()) problem = check("at first");
  if (problem.empty()) problem = find_state(trial);
  if (!problem.empty()) return problem;
  if (const Status changed = reader_->change(trial.random, tree_); !changed) {
    return "writing: " + changed.error().message();
  }
  problem = compare("after writing");
  if (problem.empty()) problem = check("after writing");
  if (!problem.empty()) return problem;
  if (const Status closed = reader_->close(); !closed) {
    return "closing: " + closed.error().message();
  }
  if (trial.random() % 4 == 0) {
    problem = open(store);
    if (problem.empty()) problem = compare("opened again");
  }
  reader_.reset();
  return problem;
}

// The result of a recording and its images, reported by the process that made them.
struct Outcome {
  int images;
  int broken;
  char first[16'384];
};

class SharedOutcome {
 public:
  SharedOutcome() {
    void* const shared =
        ::mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
    outcome_ = static_cast<Outcome*>(shared);
  }
  ~SharedOutcome() { ::munmap(outcome_, sizeof(Outcome)); }
  SharedOutcome(const SharedOutcome&) = delete;
  SharedOutcome& operator=(const SharedOutcome&) = delete;

  void tell(const CrashRunResult& result) {
    outcome_->images = result.images;
    outcome_->broken = result.broken;
    std::strncpy(outcome_->first, result.first.c_str(), sizeof outcome_->first - 1);
  }
  CrashRunResult told() const { return {outcome_->images, outcome_->broken, outcome_->first}; }

 private:
  Outcome* outcome_;
};

// Makes one recording and tries its images. `settings` receives the settings used.
void try_one(const CrashMountRun& run, const fs::path& folder, uint64_t seed, int images,
             SharedOutcome& outcome, MountSettings& settings) {
  std::mt19937_64 random(seed);
  settings = random_settings(random);
  settings.broken = run.broken;
  settings.users.left_out = run.left_out;
  // A call that is left out may be a close. Open files would prevent the unmount.
  if (!run.left_out.empty()) settings.users.unmounts = false;
  settings.users.mount_point = folder / "mount";
  const size_t users = 1 + random() % 2;
  const size_t sessions = 1 + random() % 2;
  std::vector<Program> programs;
  for (size_t user = 0; user < users; ++user) {
    programs.push_back(random_program(random, kCallsMin / users, sessions));
  }
  CrashClock clock;
  record_mount(folder / "recorded", settings, programs, clock);
  ::alarm(0);
  Examination examination(programs, settings, clock);
  CrashRunResult result;
  local::testing::try_crash_images(
      folder, {.count = images, .seed = random()},
      [&](const CrashTrial& trial) { return examination.run(trial); }, result);
  if (!result.first.empty()) result.first += "\n  with " + text_of(settings);
  outcome.tell(result);
}

// Runs try_one() in a child process, which may die, and which an alarm ends if the recording hangs.
// Afterwards no mount remains.
CrashRunResult try_in_child(const CrashMountRun& run, const fs::path& folder, uint64_t seed,
                            int images) {
  SharedOutcome outcome;
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kRecordingSeconds);
    int status = 0;
    MountSettings settings;
    try {
      try_one(run, folder, seed, images, outcome, settings);
    } catch (const std::exception& error) {
      outcome.tell(
          {0, 0, std::string("recording: ") + error.what() + ", with " + text_of(settings)});
      status = 1;
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  // The mount remains if the process that served it has died.
  (void)::umount2((folder / "mount").c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  CrashRunResult result = outcome.told();
  if (status != 0) {
    result.images = std::max(result.images, 1);
    ++result.broken;
    result.first += " [the process ended with status " + std::to_string(status) + "]";
  }
  return result;
}

}  // namespace

CrashRunResult run_crash_mounts(const CrashMountRun& run, uint64_t seed) {
  const fs::path folder = local::testing::make_crash_folder();
  fs::create_directory(folder / "mount");
  CrashRunResult result;
  for (uint64_t number = 0; !result.is_done(run.images, run.broken_enough); ++number) {
    fs::remove_all(folder / "recorded");
    fs::create_directory(folder / "recorded");
    const int images = std::min(kImagesPerRecording, run.images - result.images);
    const CrashRunResult one = try_in_child(run, folder, seed + number, images);
    result.images += one.images;
    result.broken += one.broken;
    if (result.first.empty() && one.broken > 0) {
      result.first = "GRIDMOUNT_CRASH_SEED=" + std::to_string(seed + number) + ": " + one.first;
    }
  }
  fs::remove_all(folder);
  std::cout << result.broken << " of " << result.images << " images broken" << std::endl;
  return result;
}

}  // namespace gridmount::fuse::testing
