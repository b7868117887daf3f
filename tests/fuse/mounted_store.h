// A store in a temporary folder, mounted by the built gridmount. Whatever a test does, TearDown()
// unmounts the store and ends the daemon by its pid.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gridmount::fuse {

// Expects that the call fails with this errno.
#define EXPECT_ERRNO(call, expected)                                          \
  do {                                                                        \
    errno = 0;                                                                \
    const long gm_result = (call);                                            \
    const int gm_errno = errno;                                               \
    EXPECT_EQ(gm_result, -1) << #call " succeeded";                           \
    EXPECT_EQ(gm_errno, expected) << #call ": " << strerrordesc_np(gm_errno); \
  } while (false)
#define EXPECT_CALL_OK(call) EXPECT_EQ((call), 0) << #call ": " << strerrordesc_np(errno)
#define ASSERT_CALL_OK(call) ASSERT_EQ((call), 0) << #call ": " << strerrordesc_np(errno)

struct ProgramRun {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

// Runs the program to its end. The program must not write more to stderr than a pipe can hold.
ProgramRun run_program(const std::vector<std::string>& arguments);

class MountedStore : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Starts gridmount in the foreground as a child, and waits until the mount answers.
  void mount(const std::vector<std::string>& options = {"--create"});
  // Unmounts as a user does. Returns the daemon's exit status.
  int unmount();
  // Unmounts, and does not wait for the daemon.
  void remove_mount() const;
  // Sends the signal and waits for the daemon's end. Returns its exit status.
  int end_by(int signal);
  // Sends SIGKILL and removes the dead mount.
  void kill_daemon();
  // Waits until the daemon ends by itself. Returns its exit status, or 128 + the signal that ended
  // it. After a minute, fails the test and kills the daemon.
  int wait_for_end();
  bool is_mounted() const;
  pid_t daemon() const { return daemon_; }

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path store() const { return folder_ / "store"; }
  std::filesystem::path mount_point() const { return folder_ / "mnt"; }
  // Returns a path in the bucket `fs`.
  std::string at(const std::string& path = "") const;

  // Writes and reads files in the mount.
  void write_file(const std::string& path, const std::string& content);
  std::string read_file(const std::string& path);
  // Returns the names in a directory, sorted, without "." and "..".
  std::vector<std::string> list(const std::string& path);
  // Runs `body` in a child process as that user, and reports its failures.
  void as_user(uid_t uid, gid_t gid, const std::function<void()>& body);

 private:
  std::filesystem::path folder_;
  pid_t daemon_ = -1;
};

// A mounted store, for the many tests that need nothing special.
class MountTest : public MountedStore {
 protected:
  void SetUp() override {
    MountedStore::SetUp();
    if (!IsSkipped()) mount();
  }
};

}  // namespace gridmount::fuse
