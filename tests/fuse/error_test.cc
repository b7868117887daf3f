// Goal: a wrong call fails with the errno that POSIX names, and changes nothing.
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

class ErrorTest : public MountTest {
 protected:
  void SetUp() override {
    MountTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
    write_file(at("folder/file"), "x");
    write_file(at("file"), "y");
  }
};

TEST_F(ErrorTest, MissingNames_AreNoEntry) {
  struct stat unused {};
  EXPECT_ERRNO(stat(at("none").c_str(), &unused), ENOENT);
  EXPECT_ERRNO(stat(at("none/deeper").c_str(), &unused), ENOENT);
  EXPECT_ERRNO(open(at("none").c_str(), O_RDONLY), ENOENT);
  EXPECT_ERRNO(open(at("none/new").c_str(), O_CREAT | O_WRONLY, 0644), ENOENT);
  EXPECT_ERRNO(unlink(at("none").c_str()), ENOENT);
  EXPECT_ERRNO(rmdir(at("none").c_str()), ENOENT);
  EXPECT_ERRNO(mkdir(at("none/new").c_str(), 0755), ENOENT);
  EXPECT_ERRNO(truncate(at("none").c_str(), 0), ENOENT);
  EXPECT_ERRNO(chmod(at("none").c_str(), 0644), ENOENT);
}

TEST_F(ErrorTest, AbsentName_CanBeMadeAfterwards) {
  EXPECT_ERRNO(access(at("later").c_str(), F_OK), ENOENT);
  write_file(at("later"), "z");
  EXPECT_EQ(read_file(at("later")), "z");
  ASSERT_CALL_OK(unlink(at("later").c_str()));
  EXPECT_ERRNO(access(at("later").c_str(), F_OK), ENOENT);
}

TEST_F(ErrorTest, TakenNames_Exist) {
  EXPECT_ERRNO(mkdir(at("folder").c_str(), 0755), EEXIST);
  EXPECT_ERRNO(mkdir(at("file").c_str(), 0755), EEXIST);
  EXPECT_ERRNO(symlink("x", at("file").c_str()), EEXIST);
  EXPECT_ERRNO(mknod(at("file").c_str(), S_IFREG | 0644, 0), EEXIST);
  EXPECT_ERRNO(open(at("file").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
}

TEST_F(ErrorTest, FilesAsFolders_AreNotDirectories) {
  EXPECT_ERRNO(open(at("file/x").c_str(), O_RDONLY), ENOTDIR);
  EXPECT_ERRNO(mkdir(at("file/x").c_str(), 0755), ENOTDIR);
  EXPECT_ERRNO(rmdir(at("file").c_str()), ENOTDIR);
  EXPECT_ERRNO(open(at("file").c_str(), O_RDONLY | O_DIRECTORY), ENOTDIR);
}

TEST_F(ErrorTest, FoldersAsFiles_AreDirectories) {
  EXPECT_ERRNO(open(at("folder").c_str(), O_WRONLY), EISDIR);
  EXPECT_ERRNO(unlink(at("folder").c_str()), EISDIR);
  EXPECT_ERRNO(truncate(at("folder").c_str(), 0), EISDIR);
}

TEST_F(ErrorTest, LongNames_AreTooLong) {
  const std::string too_long(256, 'n');
  struct stat unused {};
  EXPECT_ERRNO(stat(at(too_long).c_str(), &unused), ENAMETOOLONG);
  EXPECT_ERRNO(open(at(too_long).c_str(), O_CREAT | O_WRONLY, 0644), ENAMETOOLONG);
  EXPECT_ERRNO(mkdir(at(too_long).c_str(), 0755), ENAMETOOLONG);
  EXPECT_ERRNO(rename(at("file").c_str(), at(too_long).c_str()), ENAMETOOLONG);
}

TEST_F(ErrorTest, LongPaths_AreTooLong) {
  const std::string longest(4095, 't');
  EXPECT_EQ(symlink(longest.c_str(), at("link").c_str()), 0);
  std::string target(4097, '\0');
  EXPECT_EQ(readlink(at("link").c_str(), target.data(), target.size()), 4095);
  EXPECT_ERRNO(symlink((longest + "t").c_str(), at("too-long").c_str()), ENAMETOOLONG);
}

TEST_F(ErrorTest, NamesNoFileCanHave_AreInvalid) {
  EXPECT_ERRNO(access(at("%gridfs:bytes:%FF").c_str(), F_OK), ENOENT);
  EXPECT_ERRNO(mkdir(at("%gridfs:bytes:%FF").c_str(), 0755), EINVAL);
}

TEST_F(ErrorTest, FoldersWithContent_AreNotEmpty) {
  EXPECT_ERRNO(rmdir(at("folder").c_str()), ENOTEMPTY);
}

TEST_F(ErrorTest, SizesBeyondTheLargestFile_AreTooBig) {
  EXPECT_ERRNO(truncate(at("file").c_str(), INT64_MAX), EFBIG);
  EXPECT_ERRNO(truncate(at("file").c_str(), -1), EINVAL);
  EXPECT_EQ(read_file(at("file")), "y");
}

TEST_F(ErrorTest, WritesBeyondTheLargestFile_AreTooBig) {
  constexpr off_t kBeyond = off_t{1} << 60;
  constexpr size_t kBytes = 4096;
  alignas(kBytes) static char bytes[kBytes];
  // The kernel passes these writes on at once.
  for (const int flags : {O_DIRECT, O_SYNC, O_DSYNC}) {
    const int file = open(at("file").c_str(), O_WRONLY | flags);
    ASSERT_GE(file, 0);
    EXPECT_ERRNO(pwrite(file, bytes, sizeof bytes, kBeyond), EFBIG);
    close(file);
  }
  // Other writes are accepted by the kernel first.
  write_file(at("other"), "z");
  const int file = open(at("other").c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  EXPECT_EQ(pwrite(file, bytes, sizeof bytes, kBeyond), static_cast<ssize_t>(sizeof bytes));
  EXPECT_ERRNO(fsync(file), EFBIG);
  EXPECT_EQ(pwrite(file, bytes, sizeof bytes, kBeyond), static_cast<ssize_t>(sizeof bytes));
  EXPECT_ERRNO(close(file), EIO);  // the kernel has forgotten the error by then
}

TEST_F(ErrorTest, FlagsOfFiles_AreNotThere) {
  for (const char* path : {"file", "folder"}) {
    const int file = open(at(path).c_str(), O_RDONLY);
    ASSERT_GE(file, 0);
    int flags = FS_IMMUTABLE_FL;
    EXPECT_ERRNO(ioctl(file, FS_IOC_GETFLAGS, &flags), ENOTTY);
    EXPECT_ERRNO(ioctl(file, FS_IOC_SETFLAGS, &flags), ENOTTY);
    close(file);
  }
}

TEST_F(ErrorTest, FileSizeLimit_IsHeeded) {
  as_user(getuid(), getgid(), [&] {
    rlimit limit{};
    ASSERT_CALL_OK(getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = 5;
    ASSERT_CALL_OK(setrlimit(RLIMIT_FSIZE, &limit));
    // Takes the signal from the pending ones, because a thread sanitizer runs handlers late.
    sigset_t too_big;
    sigemptyset(&too_big);
    sigaddset(&too_big, SIGXFSZ);
    ASSERT_CALL_OK(sigprocmask(SIG_BLOCK, &too_big, nullptr));
    const auto signalled = [&too_big] {
      const timespec at_once{};
      return sigtimedwait(&too_big, nullptr, &at_once) == SIGXFSZ;
    };
    const int file = open(at("file").c_str(), O_WRONLY);
    ASSERT_GE(file, 0);
    EXPECT_EQ(pwrite(file, "0123456789", 10, 0), 5);
    EXPECT_FALSE(signalled());
    EXPECT_ERRNO(pwrite(file, "0", 1, 5), EFBIG);
    EXPECT_TRUE(signalled());
    EXPECT_ERRNO(ftruncate(file, 6), EFBIG);
    EXPECT_TRUE(signalled());
    close(file);
  });
  EXPECT_EQ(read_file(at("file")), "01234");
}

TEST_F(ErrorTest, ReadOnlyMount_RefusesEveryChange) {
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "ro"});
  EXPECT_EQ(read_file(at("folder/file")), "x");
  EXPECT_ERRNO(open(at("file").c_str(), O_WRONLY), EROFS);
  EXPECT_ERRNO(open(at("new").c_str(), O_CREAT | O_WRONLY, 0644), EROFS);
  EXPECT_ERRNO(mkdir(at("new").c_str(), 0755), EROFS);
  EXPECT_ERRNO(unlink(at("file").c_str()), EROFS);
  EXPECT_ERRNO(chmod(at("file").c_str(), 0600), EROFS);
  EXPECT_EQ(unmount(), 0);
}

}  // namespace
}  // namespace gridmount::fuse
