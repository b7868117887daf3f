// Goal: --jobs transfers all files, each once and whole, and stops after an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int kFiles = 60;

class GridfilesJobs : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    for (int i = 0; i < kFiles; ++i) write_file(name(i), content(i));
  }
  static std::string name(int i) {
    return "tree/" + std::to_string(i % 7) + "/" + std::to_string(i);
  }
  static std::string content(int i) {
    return std::to_string(i) + pattern_bytes(static_cast<size_t>(i) * 20'000);
  }
  void expect_all_in(const std::string& folder) const {
    for (int i = 0; i < kFiles; ++i) EXPECT_EQ(read_file(folder + name(i)), content(i)) << i;
  }
};

TEST_F(GridfilesJobs, PutAndGet_RoundTrip) {
  const Outcome put = gridfiles({"--create", "--jobs", "8", "--recursive", "put", "tree"});
  EXPECT_EQ(put.status, 0) << put.err;
  const std::string listed = gridfiles({"list"}).out;
  EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), kFiles);
  EXPECT_EQ(gridfiles({"verify"}).status, 0);
  EXPECT_EQ(gridstore_check().status, 0);
  std::filesystem::rename(folder() / "tree", folder() / "before");
  const Outcome get = gridfiles({"--jobs=8", "--recursive", "get", "tree"});
  EXPECT_EQ(get.status, 0) << get.err;
  expect_all_in("");
}

TEST_F(GridfilesJobs, Sync_RoundTrip) {
  EXPECT_EQ(gridfiles({"--create", "--jobs=8", "sync_put", ".", "d"}).status, 0);
  EXPECT_EQ(gridfiles({"--jobs=8", "sync_get", "copy", "d"}).status, 0);
  expect_all_in("copy/");
  EXPECT_EQ(gridfiles({"--jobs=8", "--dry-run", "sync_get", "copy", "d"}).out, "");
}

TEST_F(GridfilesJobs, AnError_EndsTheCommand) {
  ASSERT_EQ(gridfiles({"--create", "--jobs=4", "put", name(0), "none", name(1)}).status, 1);
  const Outcome put = gridfiles({"--jobs=4", "put", "none", "none2", name(2)});
  EXPECT_EQ(put.status, 1);
  EXPECT_THAT(put.err, EndsWith("Failed: error while opening local gridFile `none`: open none: no "
                                "such file or directory\n"));
  EXPECT_EQ(gridstore_check().status, 0);
  ASSERT_EQ(gridfiles({"--jobs=4", "put", name(3), name(4)}).status, 0);
  const Outcome get = gridfiles({"--jobs=4", "get", name(3), name(4)});
  EXPECT_EQ(get.status, 1);
  EXPECT_THAT(get.err, HasSubstr("file exists (to allow this, set --overwriteLocal)"));
}

// If these transfers ran at once, each of them would remove the files of the others.
TEST_F(GridfilesJobs, Replace_OfOneNameTwice_KeepsTheLast) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(
        gridfiles({"--create", "--jobs=2", "--replace", "put", name(1), name(1), name(1)}).status,
        0);
    EXPECT_EQ(gridfiles({"list"}).out, name(1) + "\t20001\n");
  }
}

TEST_F(GridfilesJobs, WrongNumbers_AndOtherCommands_AreRefused) {
  for (const char* number : {"0", "65", "x", "", "2x"}) {
    const Outcome outcome = gridfiles({std::string("--jobs=") + number, "put", "x"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("--jobs takes a number from 1 to 64, not ")) << number;
  }
  EXPECT_THAT(gridfiles({"--jobs=2", "list"}).err, HasSubstr("`list` does not take --jobs"));
}

}  // namespace
}  // namespace gridmount::tests
