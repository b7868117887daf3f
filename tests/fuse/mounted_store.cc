#include "tests/fuse/mounted_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

extern char** environ;

namespace gridmount::fuse {

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kPatience{60};

pid_t start(const std::vector<std::string>& arguments, int out, int err) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (err >= 0) posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = -1;
  const int error_number =
      posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error_number, 0) << arguments[0] << ": " << strerrordesc_np(error_number);
  return error_number == 0 ? child : -1;
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::string drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t bytes; (bytes = read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(bytes));
  }
  close(fd);
  return text;
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments) {
  std::array<int, 2> out;
  std::array<int, 2> err;
  ProgramRun run;
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) return run;
  const pid_t child = start(arguments, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  // The programs run here write less to the second pipe than it can hold.
  run.out = drain(out[0]);
  run.err = drain(err[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child) run.status = exit_status(status);
  return run;
}

void MountedStore::SetUp() {
  if (access("/dev/fuse", R_OK | W_OK) != 0) {
    GTEST_SKIP() << "/dev/fuse is not there: nothing can be mounted on this machine";
  }
  std::string name = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = std::filesystem::canonical(name);
  // Other users must be able to reach the mount.
  ASSERT_CALL_OK(chmod(folder_.c_str(), 0755));
  ASSERT_CALL_OK(mkdir(mount_point().c_str(), 0755));
}

void MountedStore::TearDown() {
  if (folder_.empty()) return;
  if (daemon_ > 0) {
    if (is_mounted()) run_program({"fusermount3", "-u", "-q", mount_point()});
    if (is_mounted()) run_program({"fusermount3", "-u", "-q", "-z", mount_point()});
    int status = 0;
    const auto deadline = steady_clock::now() + seconds(10);
    while (waitpid(daemon_, &status, WNOHANG) == 0) {
      if (steady_clock::now() > deadline) {
        ADD_FAILURE() << "the daemon does not end after its mount has gone";
        kill(daemon_, SIGKILL);
        waitpid(daemon_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  if (is_mounted()) run_program({"fusermount3", "-u", "-q", "-z", mount_point()});
  if (is_mounted()) {
    ADD_FAILURE() << mount_point() << " is still mounted and left behind";
    return;
  }
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

bool MountedStore::is_mounted() const {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" " + mount_point().string() + " ") != std::string::npos) return true;
  }
  return false;
}

void MountedStore::mount(const std::vector<std::string>& options) {
  ASSERT_LE(daemon_, 0);
  std::vector<std::string> arguments{GRIDMOUNT_PROGRAM, "-f"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(store());
  arguments.push_back(mount_point());
  daemon_ = start(arguments, -1, -1);
  ASSERT_GT(daemon_, 0);
  const auto deadline = steady_clock::now() + kPatience;
  // The kernel lists the mount before it answers, so this waits for an answer.
  struct stat unused {};
  while (!is_mounted() || stat(mount_point().c_str(), &unused) != 0) {
    int status = 0;
    if (waitpid(daemon_, &status, WNOHANG) == daemon_) {
      daemon_ = -1;
      FAIL() << "gridmount ended with status " << exit_status(status);
    }
    ASSERT_LT(steady_clock::now(), deadline) << "gridmount does not get ready";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int MountedStore::wait_for_end() {
  if (daemon_ <= 0) {
    ADD_FAILURE() << "no daemon runs";
    return -1;
  }
  const auto deadline = steady_clock::now() + kPatience;
  int status = 0;
  while (waitpid(daemon_, &status, WNOHANG) == 0) {
    if (steady_clock::now() > deadline) {
      ADD_FAILURE() << "the daemon does not end";
      kill(daemon_, SIGKILL);
      waitpid(daemon_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  daemon_ = -1;
  return exit_status(status);
}

void MountedStore::remove_mount() const {
  const auto deadline = steady_clock::now() + kPatience;
  ProgramRun run = run_program({"fusermount3", "-u", mount_point()});
  // Programs that watch the machine ask each mount for its free space. The mount is busy meanwhile.
  while (run.err.find("busy") != std::string::npos && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    run = run_program({"fusermount3", "-u", mount_point()});
  }
  EXPECT_EQ(run.status, 0) << run.err;
}

int MountedStore::unmount() {
  remove_mount();
  return wait_for_end();
}

int MountedStore::end_by(int signal) {
  EXPECT_CALL_OK(kill(daemon_, signal));
  return wait_for_end();
}

void MountedStore::kill_daemon() {
  EXPECT_EQ(end_by(SIGKILL), 128 + SIGKILL);
  run_program({"fusermount3", "-u", "-q", "-z", mount_point()});
}

std::string MountedStore::at(const std::string& path) const {
  return (path.empty() ? mount_point() / "fs" : mount_point() / "fs" / path).string();
}

void MountedStore::write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  EXPECT_TRUE(file) << "cannot write " << path << ": " << strerrordesc_np(errno);
}

std::string MountedStore::read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "cannot read " << path << ": " << strerrordesc_np(errno);
  // Reads pieces, because reading a large file byte by byte takes minutes under a sanitizer.
  std::string content;
  std::array<char, 65'536> piece{};
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    content.append(piece.data(), static_cast<size_t>(file.gcount()));
  }
  return content;
}

std::vector<std::string> MountedStore::list(const std::string& path) {
  std::vector<std::string> names;
  DIR* directory = opendir(path.c_str());
  EXPECT_NE(directory, nullptr) << path << ": " << strerrordesc_np(errno);
  if (directory == nullptr) return names;
  errno = 0;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  EXPECT_EQ(errno, 0) << path << ": " << strerrordesc_np(errno);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

void MountedStore::as_user(uid_t uid, gid_t gid, const std::function<void()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(gid, gid, gid) != 0 ||
        setresuid(uid, uid, uid) != 0) {
      _exit(99);
    }
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(exit_status(status), 0) << "as user " << uid << " (see above)";
}

}  // namespace gridmount::fuse
