// Goal: the mount starts and ends as a user expects: in the background, on signals, after a kill.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

class LifecycleTest : public MountedStore {};

TEST_F(LifecycleTest, Background_ReturnsWhenTheMountAnswers) {
  // Makes the daemon our child when its parent ends, so that the test can wait for it.
  ASSERT_CALL_OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
  ProgramRun run = run_program(
      {GRIDMOUNT_PROGRAM, "--create", "--log-file", folder() / "log", store(), mount_point()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out + run.err, "");
  EXPECT_TRUE(is_mounted());
  write_file(at("file"), "x");
  remove_mount();
  int status = -1;
  pid_t ended = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((ended = waitpid(-1, &status, WNOHANG)) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the daemon does not end";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GT(ended, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(read_file(folder() / "log").find("is unmounted"), std::string::npos);
  mount({});
  EXPECT_EQ(read_file(at("file")), "x");
}

TEST_F(LifecycleTest, UnmountAndMountAgain_WithoutWaiting) {
  ASSERT_CALL_OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
  for (int round = 0; round < 3; ++round) {
    ProgramRun run = run_program({GRIDMOUNT_PROGRAM, "--create", store(), mount_point()});
    ASSERT_EQ(run.status, 0) << run.err;
    write_file(at("file" + std::to_string(round)), std::string(3'000'000, 'x'));
    EXPECT_EQ(list(at()).size(), static_cast<size_t>(round + 1));
    remove_mount();
  }
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST_F(LifecycleTest, StopSignals_EndTheMountCleanly) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    mount();
    const std::string path = at("signal" + std::to_string(signal));
    write_file(path, "x");
    EXPECT_EQ(end_by(signal), 0);
    EXPECT_FALSE(is_mounted());
    mount({});
    EXPECT_EQ(read_file(path), "x");
    EXPECT_EQ(unmount(), 0);
  }
}

TEST_F(LifecycleTest, SignalWithAFileOpen_KeepsWhatWasWritten) {
  mount();
  const int fd = open(at("open").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  const std::string content(3'000'000, 'w');
  ASSERT_EQ(write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  EXPECT_EQ(end_by(SIGTERM), 0);
  close(fd);
  mount({});
  EXPECT_TRUE(read_file(at("open")) == content);
}

TEST_F(LifecycleTest, KilledDaemon_ClosedFilesAreThere) {
  mount();
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  for (int i = 0; i < 50; ++i) {
    write_file(at("folder/" + std::to_string(i)),
               std::string(10'000, static_cast<char>('a' + i % 26)));
  }
  const int fd = open(at("unlinked").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "x", 1), 1);
  ASSERT_CALL_OK(unlink(at("unlinked").c_str()));
  kill_daemon();
  close(fd);
  mount({});
  EXPECT_EQ(list(at("folder")).size(), 50U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(read_file(at("folder/" + std::to_string(i))) ==
                std::string(10'000, static_cast<char>('a' + i % 26)));
  }
  EXPECT_ERRNO(access(at("unlinked").c_str(), F_OK), ENOENT);
  EXPECT_EQ(unmount(), 0);
}

// A daemon that waits for a reply of its own mount cannot be killed. The daemon hangs, and every
// user of the mount hangs, too.
TEST_F(LifecycleTest, KilledAtAnyMoment_Ends) {
  for (int round = 0; round < 30; ++round) {
    mount();
    const int fd = open(at("open").c_str(), O_CREAT | O_RDWR, 0644);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(write(fd, "x", 1), 1);
    if (round % 2 == 1) {
      // The kill comes while the daemon is already ending.
      ASSERT_CALL_OK(kill(daemon(), SIGTERM));
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
    }
    kill_daemon();
    close(fd);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST_F(LifecycleTest, FsyncedFile_SurvivesAKillBeforeClose) {
  mount();
  const int fd = open(at("synced").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "synced", 6), 6);
  ASSERT_CALL_OK(fsync(fd));
  kill_daemon();
  close(fd);
  mount({});
  EXPECT_EQ(read_file(at("synced")), "synced");
}

TEST_F(LifecycleTest, FsyncOfAFolder_Succeeds) {
  mount();
  const int fd = open(at().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(fd, 0);
  EXPECT_CALL_OK(fsync(fd));
  close(fd);
}

}  // namespace
}  // namespace gridmount::fuse
