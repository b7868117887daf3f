// Goal: after a commit that met a full disk, transactions run one by one for a while, whatever the
// file system says about its free space.
#include "engine/local/files/space_reserve.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace gridmount::local {
namespace {

// With a quota, a commit may fail although the file system has plenty of space, as it has here.
TEST(SpaceReserveTest, Room_AfterAFullDisk_IsNotEnough) {
  std::string folder = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    SpaceReserve reserve(folder);
    reserve.open();
    EXPECT_EQ(reserve.room(), SpaceReserve::Room::kEnough);
    reserve.record_full_disk();
    for (int i = 0; i < 3; ++i) EXPECT_NE(reserve.room(), SpaceReserve::Room::kEnough) << i;
  }
  std::filesystem::remove_all(folder);
}

TEST(SpaceReserveTest, Room_WithoutAReserve_IsNotEnoughAfterAFullDisk) {
  SpaceReserve reserve("/nonexistent");
  reserve.open();
  EXPECT_EQ(reserve.room(), SpaceReserve::Room::kEnough);
  reserve.record_full_disk();
  EXPECT_NE(reserve.room(), SpaceReserve::Room::kEnough);
}

}  // namespace
}  // namespace gridmount::local
