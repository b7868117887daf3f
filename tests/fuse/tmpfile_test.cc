// Goal: files opened with O_TMPFILE behave as on a local file system: they have no name until
// link(2) gives them one, and are removed when the last handle is closed.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

class TmpfileTest : public MountTest {
 protected:
  void SetUp() override {
    utsname kernel{};
    int version[2] = {};
    ASSERT_CALL_OK(uname(&kernel));
    ASSERT_EQ(sscanf(kernel.release, "%d.%d", &version[0], &version[1]), 2);
    if (version[0] < 6 || (version[0] == 6 && version[1] < 1)) GTEST_SKIP() << "needs Linux 6.1";
    MountTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  }
  void TearDown() override {
    if (file_ >= 0) close(file_);
    MountTest::TearDown();
  }
  void make(const std::string& content, int flags = 0) {
    file_ = open(at("folder").c_str(), O_TMPFILE | O_RDWR | flags, 0640);
    ASSERT_GE(file_, 0) << strerrordesc_np(errno);
    ASSERT_EQ(write(file_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  void let_go() {
    ASSERT_CALL_OK(close(file_));
    file_ = -1;
  }
  int link_as(const std::string& name) {
    const std::string opened = "/proc/self/fd/" + std::to_string(file_);
    return linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, at(name).c_str(), AT_SYMLINK_FOLLOW);
  }
  struct stat status() {
    struct stat result {};
    EXPECT_CALL_OK(fstat(file_, &result));
    return result;
  }
  std::string content() {
    std::string bytes(static_cast<size_t>(status().st_size), '\0');
    EXPECT_EQ(pread(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }

  int file_ = -1;
};

TEST_F(TmpfileTest, WithoutAName_IsAFileForWhoHasIt) {
  make(std::string(600'000, 'x'));
  EXPECT_EQ(status().st_nlink, 0U);
  EXPECT_EQ(status().st_mode, S_IFREG | 0640U);
  EXPECT_EQ(status().st_size, 600'000);
  EXPECT_TRUE(list(at("folder")).empty());
  EXPECT_EQ(list(at()), std::vector<std::string>{"folder"});
  EXPECT_CALL_OK(fsync(file_));
  EXPECT_CALL_OK(ftruncate(file_, 3));
  EXPECT_CALL_OK(fchmod(file_, 0600));
  EXPECT_CALL_OK(fsetxattr(file_, "user.a", "b", 1, 0));
  EXPECT_EQ(fgetxattr(file_, "user.a", nullptr, 0), 1);
  EXPECT_EQ(content(), "xxx");
  EXPECT_EQ(status().st_mode, S_IFREG | 0600U);
  let_go();
  EXPECT_EQ(unmount(), 0);
  mount({});
  EXPECT_TRUE(list(at("folder")).empty());
}

TEST_F(TmpfileTest, Linked_HasTheName) {
  make("first");
  ASSERT_CALL_OK(fsetxattr(file_, "user.a", "b", 1, 0));
  ASSERT_CALL_OK(link_as("folder/name"));
  struct stat named {};
  ASSERT_CALL_OK(stat(at("folder/name").c_str(), &named));
  EXPECT_EQ(named.st_ino, status().st_ino);
  EXPECT_EQ(named.st_nlink, 1U);
  EXPECT_EQ(status().st_nlink, 1U);
  ASSERT_EQ(pwrite(file_, "second", 6, 5), 6);
  EXPECT_EQ(read_file(at("folder/name")), "firstsecond");
  let_go();
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(read_file(at("folder/name")), "firstsecond");
  EXPECT_EQ(getxattr(at("folder/name").c_str(), "user.a", nullptr, 0), 1);
  ASSERT_CALL_OK(stat(at("folder/name").c_str(), &named));
  EXPECT_EQ(named.st_mode, S_IFREG | 0640U);
  // Now it is like any other file.
  ASSERT_CALL_OK(link(at("folder/name").c_str(), at("other").c_str()));
  ASSERT_CALL_OK(unlink(at("folder/name").c_str()));
  EXPECT_EQ(read_file(at("other")), "firstsecond");
  ASSERT_CALL_OK(unlink(at("other").c_str()));
  EXPECT_EQ(list(at()), std::vector<std::string>{"folder"});
}

TEST_F(TmpfileTest, LinkedAndUnlinked_HasNoNameForGood) {
  make("content");
  ASSERT_CALL_OK(link_as("name"));
  ASSERT_CALL_OK(link_as("second"));
  EXPECT_EQ(status().st_nlink, 2U);
  EXPECT_ERRNO(link_as("second"), EEXIST);
  ASSERT_CALL_OK(unlink(at("name").c_str()));
  ASSERT_CALL_OK(unlink(at("second").c_str()));
  EXPECT_EQ(status().st_nlink, 0U);
  EXPECT_EQ(content(), "content");
  EXPECT_ERRNO(link_as("again"), ENOENT);
}

TEST_F(TmpfileTest, ExclusiveOnes_TakeNoName) {
  make("content", O_EXCL);
  EXPECT_ERRNO(link_as("name"), ENOENT);
  EXPECT_ERRNO(access(at("name").c_str(), F_OK), ENOENT);
}

TEST_F(TmpfileTest, TakenNames_StayWhatTheyAre) {
  write_file(at("taken"), "old");
  make("new");
  EXPECT_ERRNO(link_as("taken"), EEXIST);
  EXPECT_EQ(read_file(at("taken")), "old");
  ASSERT_CALL_OK(link_as("new"));
  ASSERT_CALL_OK(rename(at("new").c_str(), at("taken").c_str()));
  EXPECT_EQ(read_file(at("taken")), "new");
}

TEST_F(TmpfileTest, KilledDaemon_LeavesTheLinkedOnes) {
  make("kept");
  ASSERT_CALL_OK(fsync(file_));
  ASSERT_CALL_OK(link_as("kept"));
  ASSERT_CALL_OK(fsync(file_));
  close(file_);
  make(std::string(3'000'000, 'y'));
  ASSERT_CALL_OK(fsync(file_));
  kill_daemon();
  close(file_);
  file_ = -1;
  mount({});
  EXPECT_EQ(list(at()), (std::vector<std::string>{"folder", "kept"}));
  EXPECT_EQ(read_file(at("kept")), "kept");
}

TEST_F(TmpfileTest, WhereNoFileCanBeMade_ThereIsNone) {
  EXPECT_ERRNO(open(mount_point().c_str(), O_TMPFILE | O_RDWR, 0600), EPERM);
  EXPECT_ERRNO(open(at(".gridfs").c_str(), O_TMPFILE | O_RDWR, 0600), EROFS);
  EXPECT_ERRNO(open(at("none").c_str(), O_TMPFILE | O_RDWR, 0600), ENOENT);
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "ro"});
  EXPECT_ERRNO(open(at("folder").c_str(), O_TMPFILE | O_RDWR, 0600), EROFS);
}

}  // namespace
}  // namespace gridmount::fuse
