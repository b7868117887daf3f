// Goal: the directories of the root are the store's buckets, and the root holds nothing else.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

using Names = std::vector<std::string>;

class BucketFoldersTest : public MountTest {
 protected:
  std::string root(const std::string& name) { return mount_point() / name; }
};

TEST_F(BucketFoldersTest, Mkdir_MakesABucket) {
  const mode_t old_mask = umask(0);
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0750));
  umask(old_mask);
  write_file(root("photos/a"), "x");
  EXPECT_EQ(list(mount_point()), (Names{"fs", "photos"}));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(mount_point()), (Names{"fs", "photos"}));
  EXPECT_EQ(read_file(root("photos/a")), "x");
  struct stat attributes {};
  ASSERT_CALL_OK(stat(root("photos").c_str(), &attributes));
  EXPECT_EQ(attributes.st_mode, S_IFDIR | 0750U);
  EXPECT_EQ(attributes.st_uid, getuid());
}

TEST_F(BucketFoldersTest, Rmdir_DropsAnEmptyBucket) {
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0755));
  write_file(root("photos/a"), "x");
  EXPECT_ERRNO(rmdir(root("photos").c_str()), ENOTEMPTY);
  ASSERT_CALL_OK(unlink(root("photos/a").c_str()));
  ASSERT_CALL_OK(rmdir(root("photos").c_str()));
  EXPECT_EQ(list(mount_point()), Names{"fs"});
  EXPECT_ERRNO(access(root("photos").c_str(), F_OK), ENOENT);
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0755));
  write_file(root("photos/b"), "y");
  EXPECT_EQ(list(root("photos")), Names{"b"});
}

TEST_F(BucketFoldersTest, Rmdir_WithAFileOpen_IsBusy) {
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0755));
  const int fd = open(root("photos/a").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_CALL_OK(unlink(root("photos/a").c_str()));
  EXPECT_ERRNO(rmdir(root("photos").c_str()), EBUSY);
  EXPECT_EQ(write(fd, "x", 1), 1);
  close(fd);
}

TEST_F(BucketFoldersTest, Rename_RenamesABucket) {
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0700));
  ASSERT_CALL_OK(mkdir(root("photos/2024").c_str(), 0755));
  write_file(root("photos/2024/a"), "x");
  ASSERT_CALL_OK(rename(root("photos").c_str(), root("pictures").c_str()));
  EXPECT_EQ(list(mount_point()), (Names{"fs", "pictures"}));
  EXPECT_EQ(read_file(root("pictures/2024/a")), "x");
  write_file(root("pictures/2024/b"), "y");
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(root("pictures/2024")), (Names{"a", "b"}));
  // A bucket with contents is not replaced, but an empty one is.
  EXPECT_ERRNO(rename(root("fs").c_str(), root("pictures").c_str()), ENOTEMPTY);
  ASSERT_CALL_OK(rename(root("pictures").c_str(), root("fs").c_str()));
  EXPECT_EQ(list(at("2024")), (Names{"a", "b"}));
  EXPECT_EQ(list(mount_point()), Names{"fs"});
}

TEST_F(BucketFoldersTest, RenameOverAnEmptyBucket_WithAFileOpen_IsBusyAndKeepsBoth) {
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(root("empty").c_str(), 0711));
  const int fd = open(root("photos/a").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(fd, 0);
  EXPECT_ERRNO(rename(root("photos").c_str(), root("empty").c_str()), EBUSY);
  EXPECT_EQ(list(mount_point()), (Names{"empty", "fs", "photos"}));
  struct stat attributes {};
  ASSERT_CALL_OK(stat(root("empty").c_str(), &attributes));
  EXPECT_EQ(attributes.st_mode, S_IFDIR | 0711U);
  close(fd);
  ASSERT_CALL_OK(rename(root("photos").c_str(), root("empty").c_str()));
  EXPECT_EQ(list(mount_point()), (Names{"empty", "fs"}));
  EXPECT_EQ(list(root("empty")), Names{"a"});
}

TEST_F(BucketFoldersTest, AcrossBuckets_IsAnotherDevice) {
  ASSERT_CALL_OK(mkdir(root("photos").c_str(), 0755));
  write_file(at("file"), "x");
  EXPECT_ERRNO(rename(at("file").c_str(), root("photos/file").c_str()), EXDEV);
  EXPECT_ERRNO(rename(at("file").c_str(), root("file").c_str()), EXDEV);
}

TEST_F(BucketFoldersTest, FilesInTheRoot_AreNotPermitted) {
  EXPECT_ERRNO(open(root("file").c_str(), O_CREAT | O_WRONLY, 0644), EPERM);
  EXPECT_ERRNO(symlink("fs", root("link").c_str()), EPERM);
  EXPECT_ERRNO(mknod(root("file").c_str(), S_IFREG | 0644, 0), EPERM);
  EXPECT_ERRNO(chmod(mount_point().c_str(), 0700), EPERM);
}

TEST_F(BucketFoldersTest, NamesNoBucketCanHave_AreInvalid) {
  EXPECT_ERRNO(mkdir(root("a$b").c_str(), 0755), EINVAL);
  EXPECT_ERRNO(mkdir(root("system.x").c_str(), 0755), EINVAL);
  // The name of the collection for directories, `test.NAME.directories`, has at most 255 bytes.
  EXPECT_ERRNO(mkdir(root(std::string(239, 'b')).c_str(), 0755), EINVAL);
  ASSERT_CALL_OK(mkdir(root(std::string(238, 'b')).c_str(), 0755));
  write_file(root(std::string(238, 'b')) + "/file", "x");
  EXPECT_ERRNO(mkdir(root("fs").c_str(), 0755), EEXIST);
  EXPECT_ERRNO(access(root("a$b").c_str(), F_OK), ENOENT);
}

TEST_F(BucketFoldersTest, OneBucketAtTheRoot) {
  write_file(at("file"), "x");
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "bucket=fs"});
  EXPECT_EQ(list(mount_point()), Names{"file"});
  EXPECT_EQ(read_file(root("file")), "x");
  write_file(root("second"), "y");
  ASSERT_CALL_OK(mkdir(root("folder").c_str(), 0755));
  ASSERT_CALL_OK(chmod(mount_point().c_str(), 0711));
  struct stat attributes {};
  ASSERT_CALL_OK(stat(mount_point().c_str(), &attributes));
  EXPECT_EQ(attributes.st_mode, S_IFDIR | 0711U);
  EXPECT_EQ(attributes.st_ino, 1U);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at()), (Names{"file", "folder", "second"}));
}

TEST_F(BucketFoldersTest, OtherDatabase_IsAnotherRoot) {
  write_file(at("file"), "x");
  ASSERT_EQ(unmount(), 0);
  mount({"--db", "other"});
  EXPECT_EQ(list(mount_point()), Names{});
  ASSERT_CALL_OK(mkdir(root("fs").c_str(), 0755));
  EXPECT_EQ(list(at()), Names{});
}

}  // namespace
}  // namespace gridmount::fuse
