// Goal: names can be made, found and removed as on any file system.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

using NamesTest = MountTest;
using Names = std::vector<std::string>;

struct stat stat_of(const std::string& path) {
  struct stat result {};
  EXPECT_CALL_OK(lstat(path.c_str(), &result)) << path;
  return result;
}

TEST_F(NamesTest, NewMount_HasTheBucketFs) {
  EXPECT_EQ(list(mount_point()), Names{"fs"});
  EXPECT_EQ(list(at()), Names{});
  EXPECT_TRUE(S_ISDIR(stat_of(at()).st_mode));
}

TEST_F(NamesTest, FoldersAndFiles_AreListedAndRemoved) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("a/b").c_str(), 0700));
  write_file(at("a/file"), "x");
  EXPECT_EQ(list(at()), Names{"a"});
  EXPECT_EQ(list(at("a")), (Names{"b", "file"}));
  EXPECT_EQ(stat_of(at("a/b")).st_mode, S_IFDIR | 0700U);
  EXPECT_ERRNO(rmdir(at("a").c_str()), ENOTEMPTY);
  ASSERT_CALL_OK(unlink(at("a/file").c_str()));
  ASSERT_CALL_OK(rmdir(at("a/b").c_str()));
  EXPECT_EQ(list(at("a")), Names{});
  ASSERT_CALL_OK(rmdir(at("a").c_str()));
  EXPECT_EQ(list(at()), Names{});
}

TEST_F(NamesTest, EmptyFolder_SurvivesRemount) {
  ASSERT_CALL_OK(mkdir(at("empty").c_str(), 0750));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("empty")).st_mode, S_IFDIR | 0750U);
  EXPECT_EQ(list(at()), Names{"empty"});
}

TEST_F(NamesTest, FolderOfLastFile_Stays) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  write_file(at("a/only"), "x");
  ASSERT_CALL_OK(unlink(at("a/only").c_str()));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at()), Names{"a"});
}

TEST_F(NamesTest, SymbolicLinks_PointWhereTheyWerePointed) {
  write_file(at("file"), "content");
  ASSERT_CALL_OK(symlink("file", at("link").c_str()));
  const std::string long_target(4000, 'x');
  ASSERT_CALL_OK(symlink(long_target.c_str(), at("long").c_str()));
  EXPECT_EQ(read_file(at("link")), "content");
  EXPECT_TRUE(S_ISLNK(stat_of(at("link")).st_mode));
  EXPECT_EQ(stat_of(at("link")).st_size, 4);
  ASSERT_EQ(unmount(), 0);
  mount({});
  char target[5000] = {};
  EXPECT_EQ(readlink(at("link").c_str(), target, sizeof target), 4);
  EXPECT_STREQ(target, "file");
  EXPECT_EQ(readlink(at("long").c_str(), target, sizeof target), 4000);
  EXPECT_EQ(target, long_target);
  EXPECT_ERRNO(readlink(at("file").c_str(), target, sizeof target), EINVAL);
  ASSERT_CALL_OK(unlink(at("link").c_str()));
  EXPECT_EQ(read_file(at("file")), "content");
}

TEST_F(NamesTest, NamesOfAnyKind_AreKept) {
  const Names names{" ",
                    "-f",
                    "a b",
                    "a\nb",
                    "a\\b",
                    "a%2Fb",
                    "back\"",
                    "dots...",
                    "\xC3\xA4\xE2\x82\xAC",
                    std::string(255, 'n')};
  for (const std::string& name : names) write_file(at(name), name);
  Names sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(list(at()), sorted);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at()), sorted);
  for (const std::string& name : names) {
    EXPECT_EQ(read_file(at(name)), name);
    EXPECT_CALL_OK(unlink(at(name).c_str())) << name;
  }
  EXPECT_EQ(list(at()), Names{});
}

TEST_F(NamesTest, Mknod_MakesWhatIsAskedFor) {
  ASSERT_CALL_OK(mknod(at("file").c_str(), S_IFREG | 0640, 0));
  EXPECT_EQ(stat_of(at("file")).st_mode, S_IFREG | 0640U);
  ASSERT_CALL_OK(mkfifo(at("pipe").c_str(), 0600));
  EXPECT_EQ(stat_of(at("pipe")).st_mode, S_IFIFO | 0600U);
  ASSERT_CALL_OK(mknod(at("device").c_str(), S_IFCHR | 0640, makedev(259, 70'000)));
  EXPECT_EQ(stat_of(at("device")).st_rdev, makedev(259, 70'000));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("device")).st_mode, S_IFCHR | 0640U);
  EXPECT_EQ(stat_of(at("device")).st_rdev, makedev(259, 70'000));
  std::thread writer([this] { write_file(at("pipe"), "through"); });
  EXPECT_EQ(read_file(at("pipe")), "through");
  writer.join();
}

TEST_F(NamesTest, HardLink_IsTheSameFile) {
  ASSERT_CALL_OK(mkdir(at("d").c_str(), 0755));
  write_file(at("file"), "x");
  ASSERT_CALL_OK(link(at("file").c_str(), at("d/other").c_str()));
  EXPECT_EQ(stat_of(at("file")).st_ino, stat_of(at("d/other")).st_ino);
  EXPECT_EQ(stat_of(at("file")).st_nlink, 2U);
  write_file(at("d/other"), "through the other name");
  EXPECT_EQ(read_file(at("file")), "through the other name");
  EXPECT_ERRNO(link(at("d").c_str(), at("e").c_str()), EPERM);
  EXPECT_ERRNO(link(at("file").c_str(), at("d/other").c_str()), EEXIST);
  ASSERT_CALL_OK(unlink(at("file").c_str()));
  EXPECT_EQ(stat_of(at("d/other")).st_nlink, 1U);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at()), Names{"d"});
  EXPECT_EQ(read_file(at("d/other")), "through the other name");
}

TEST_F(NamesTest, WithoutAName_WhatIsOpenCanStillBeLookedAt) {
  ASSERT_CALL_OK(mkfifo(at("pipe").c_str(), 0640));
  write_file(at("file"), "content");
  const int pipe = open(at("pipe").c_str(), O_RDWR);
  const int file = open(at("file").c_str(), O_PATH);
  ASSERT_CALL_OK(unlink(at("pipe").c_str()));
  write_file(at("other"), "x");
  ASSERT_CALL_OK(rename(at("other").c_str(), at("file").c_str()));
  struct stat result {};
  ASSERT_CALL_OK(fstat(pipe, &result));
  EXPECT_EQ(result.st_mode, S_IFIFO | 0640U);
  EXPECT_EQ(result.st_nlink, 0U);
  ASSERT_CALL_OK(fstat(file, &result));
  EXPECT_EQ(result.st_size, 7);
  EXPECT_EQ(result.st_nlink, 0U);
  close(pipe);
  close(file);
}

TEST_F(NamesTest, RenameOfOneLinkToTheOther_ChangesNothing) {
  write_file(at("a"), "x");
  ASSERT_CALL_OK(link(at("a").c_str(), at("b").c_str()));
  ASSERT_CALL_OK(rename(at("a").c_str(), at("b").c_str()));
  EXPECT_EQ(list(at()), (Names{"a", "b"}));
}

TEST_F(NamesTest, Numbers_StayWithTheirFiles) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  write_file(at("a/file"), "x");
  const ino_t folder_number = stat_of(at("a")).st_ino;
  const ino_t file_ino = stat_of(at("a/file")).st_ino;
  ASSERT_CALL_OK(rename(at("a/file").c_str(), at("a/renamed").c_str()));
  EXPECT_EQ(stat_of(at("a/renamed")).st_ino, file_ino);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("a")).st_ino, folder_number);
  EXPECT_EQ(stat_of(at("a/renamed")).st_ino, file_ino);
}

TEST_F(NamesTest, ChangesInAFolder_MoveItsTimes) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  const timespec past[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0},
                            {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  ASSERT_CALL_OK(utimensat(AT_FDCWD, at("a").c_str(), past, 0));
  EXPECT_EQ(stat_of(at("a")).st_mtim.tv_sec, 1'000'000'000);
  const time_t before = time(nullptr);
  write_file(at("a/file"), "x");
  EXPECT_GE(stat_of(at("a")).st_mtim.tv_sec, before);
  ASSERT_CALL_OK(utimensat(AT_FDCWD, at("a").c_str(), past, 0));
  ASSERT_CALL_OK(unlink(at("a/file").c_str()));
  EXPECT_GE(stat_of(at("a")).st_mtim.tv_sec, before);
}

TEST_F(NamesTest, RemovedFolder_CanStillBeChangedByWhoHasItOpen) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  const int fd = open(at("folder").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(rmdir(at("folder").c_str()));
  EXPECT_CALL_OK(fchmod(fd, 0700));
  const timespec times[2] = {{1000, 1}, {2000, 2}};
  EXPECT_CALL_OK(futimens(fd, times));
  struct stat result {};
  EXPECT_CALL_OK(fstat(fd, &result));
  EXPECT_EQ(result.st_mode, S_IFDIR | 0700U);
  EXPECT_EQ(result.st_mtim.tv_sec, 2000);
  EXPECT_EQ(result.st_nlink, 0U);
  close(fd);
}

TEST_F(NamesTest, RemovedFolder_CanStillBeStatted) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  const int fd = open(at("a").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(rmdir(at("a").c_str()));
  struct stat attributes {};
  EXPECT_CALL_OK(fstat(fd, &attributes));
  EXPECT_EQ(attributes.st_nlink, 0U);
  EXPECT_ERRNO(openat(fd, "file", O_CREAT | O_WRONLY, 0644), ENOENT);
  // A directory with the same name is another node.
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  EXPECT_ERRNO(openat(fd, "file", O_CREAT | O_WRONLY, 0644), ENOENT);
  close(fd);
}

}  // namespace
}  // namespace gridmount::fuse
