#include "tests/fuse/crash/recorded_mount.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "command_line/signals.h"
#include "fuse/kernel/session.h"
#include "fuse/tree/file_system.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tests/engine/local/crash/crash_trials.h"
#include "tests/engine/local/crash/write_recorder.h"
#include "tests/must.h"

namespace gridmount::fuse::testing {
namespace {

namespace fs = std::filesystem;
using local::testing::WriteRecorder;
using std::chrono::milliseconds;

template <typename Options>
auto one_of(std::mt19937_64& random, const Options& options) {
  return options[random() % options.size()];
}

std::unique_ptr<engine::Store> open_store(const fs::path& folder, bool create,
                                          const MountSettings& settings) {
  local::TestOptions test;
  test.boot_id = "first boot";  // so that the opening of an image sees another boot
  return must(local::testing::open_crash_store(folder, create, test, settings.store));
}

// A pipe. One process waits until another one writes to it.
class StartSignal {
 public:
  StartSignal() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~StartSignal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  StartSignal(const StartSignal&) = delete;
  StartSignal& operator=(const StartSignal&) = delete;

  int waiting_end() const { return ends_[0]; }
  void give() { (void)!::write(ends_[1], "!", 1); }

 private:
  std::array<int, 2> ends_{};
};

// Serves the mount until it has been unmounted. Returns whether all calls of the users succeeded.
bool serve(Session& session, pid_t users, bool users_unmount, StartSignal& start) {
  std::atomic<bool> good = false;
  std::thread waiter([&] {
    int status = 0;
    ::waitpid(users, &status, 0);
    good = status == 0;
    if (!good || !users_unmount || ::geteuid() != 0) session.stop();
  });
  const Status served = session.run([&] { start.give(); });
  waiter.join();
  must(served);
  return good;
}

void record_session(const fs::path& folder, const MountSettings& settings,
                    const std::vector<Program>& programs, size_t number, CrashClock& clock) {
  StartSignal start;
  const pid_t users = start_users(programs, number, settings.users, start.waiting_end(), clock);
  std::unique_ptr<engine::Store> store = open_store(folder, false, settings);
  bool good = false;
  {
    const std::unique_ptr<engine::Store> served = with_broken_promises(*store, settings.broken);
    Buckets buckets(*served, settings.buckets);
    FileSystem file_system(buckets, must(buckets.find(kBucket)));
    SessionOptions options;
    options.mount_point = settings.users.mount_point;
    options.source = folder.string();
    options.mount_options = {"rw"};
    std::unique_ptr<Session> session = must(Session::mount(file_system, options));
    good = serve(*session, users, settings.users.unmounts, start);
    session.reset();
    must(file_system.close());
  }
  store.reset();
  clock.closed(number) = clock.tick();
  if (!good) throw std::runtime_error("a call on the mount has failed");
}

}  // namespace

MountSettings random_settings(std::mt19937_64& random) {
  constexpr std::array kChunkBytes = {4096, 5000, 16'384, 262'144};
  constexpr std::array kCommitIntervals = {milliseconds(2), milliseconds(20), milliseconds(1000)};
  constexpr std::array kCheckpointIntervals = {milliseconds(5), milliseconds(50),
                                               milliseconds(3'600'000)};
  constexpr std::array kDirtyBytes = {uint64_t{1} << 20, uint64_t{64} << 20};
  constexpr std::array kRevisions = {0U, 0U, 2U};
  MountSettings settings;
  settings.store = local::testing::crash_store_options();
  settings.store.checkpoint_interval = one_of(random, kCheckpointIntervals);
  if (random() % 4 == 0) settings.store.redo_bytes = local::OpenOptions().redo_bytes;
  settings.buckets.database = "crash";
  settings.buckets.bucket.chunk_bytes = one_of(random, kChunkBytes);
  settings.buckets.bucket.md5 = settings.buckets.files.md5 = random() % 2 == 0;
  settings.buckets.paths.revisions = one_of(random, kRevisions);
  settings.buckets.files.commit_interval = one_of(random, kCommitIntervals);
  settings.buckets.files.dirty_bytes_max = one_of(random, kDirtyBytes);
  settings.users.unmounts = random() % 4 != 0;
  return settings;
}

std::string text_of(const MountSettings& settings) {
  const BucketSettings& buckets = settings.buckets;
  return "chunks of " + std::to_string(buckets.bucket.chunk_bytes) + " bytes, md5 " +
         std::to_string(buckets.bucket.md5) + ", " + std::to_string(buckets.paths.revisions) +
         " revisions, commits every " + std::to_string(buckets.files.commit_interval.count()) +
         " ms of at most " + std::to_string(buckets.files.dirty_bytes_max) +
         " bytes, checkpoints every " + std::to_string(settings.store.checkpoint_interval.count()) +
         " ms, a log of " + std::to_string(settings.store.redo_bytes) + " bytes";
}

void record_mount(const fs::path& folder, const MountSettings& settings,
                  const std::vector<Program>& programs, CrashClock& clock) {
  block_signals();
  const fs::path store = folder / local::testing::kCrashStore;
  {
    const std::unique_ptr<engine::Store> made = open_store(store, true, settings);
    Buckets buckets(*made, settings.buckets);
    (void)must(buckets.create(kBucket));
    must(buckets.close());
  }
  WriteRecorder& recorder = WriteRecorder::instance();
  recorder.start(folder);
  recorder.stamp_with([&clock] { return clock.now(); });
  for (size_t session = 0; session < programs[0].session_ends.size(); ++session) {
    record_session(store, settings, programs, session, clock);
  }
  recorder.stop();
}

}  // namespace gridmount::fuse::testing
