// Goal: an unusable mount point is refused before anything is done, each kind with its own status.
#include "fuse/kernel/mount_point.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gridmount::fuse {
namespace {

class MountPointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ExitStatus status_of(const std::filesystem::path& mount_point) {
    auto checked = check_mount_point(mount_point, folder_ / "store");
    if (checked) return ExitStatus::kOk;
    EXPECT_NE(checked.error().message.find(mount_point.string()), std::string::npos);
    return checked.error().status;
  }

  std::filesystem::path folder_;
};

TEST_F(MountPointTest, EmptyFolder_IsAccepted) {
  std::filesystem::create_directory(folder_ / "mnt");
  EXPECT_EQ(status_of(folder_ / "mnt"), ExitStatus::kOk);
}

TEST_F(MountPointTest, FolderWithSomethingInIt_IsAccepted) {
  std::filesystem::create_directories(folder_ / "mnt/inner");
  EXPECT_EQ(status_of(folder_ / "mnt"), ExitStatus::kOk);
}

TEST_F(MountPointTest, SymbolicLink_IsFollowed) {
  std::filesystem::create_directory(folder_ / "mnt");
  std::filesystem::create_directory_symlink(folder_ / "mnt", folder_ / "link");
  auto checked = check_mount_point(folder_ / "link", folder_ / "store");
  ASSERT_TRUE(checked);
  EXPECT_EQ(*checked, folder_ / "mnt");
}

TEST_F(MountPointTest, Missing_IsRefused) {
  EXPECT_EQ(status_of(folder_ / "none"), ExitStatus::kMountPointUnusable);
}

TEST_F(MountPointTest, File_IsRefused) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(status_of(folder_ / "file"), ExitStatus::kMountPointUnusable);
}

TEST_F(MountPointTest, StoreWithinMountPointOrBeyond_IsRefused) {
  std::filesystem::create_directories(folder_ / "store/inner");
  EXPECT_EQ(status_of(folder_ / "store"), ExitStatus::kFailure);
  EXPECT_EQ(status_of(folder_ / "store/inner"), ExitStatus::kFailure);
  EXPECT_EQ(status_of(folder_), ExitStatus::kFailure);
  std::filesystem::create_directory(folder_ / "store2");
  EXPECT_EQ(status_of(folder_ / "store2"), ExitStatus::kOk) << "only the name begins alike";
}

}  // namespace
}  // namespace gridmount::fuse
