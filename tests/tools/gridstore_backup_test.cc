// Goal: gridstore backup, compact and upgrade print the right messages, and a backup is a store
// like any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class GridstoreBackup : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "a", pattern_bytes(600'000)); });
  }
  Outcome gridstore(std::vector<std::string> arguments) const {
    return run({GRIDSTORE, std::move(arguments), folder(), "", {}});
  }
};

TEST_F(GridstoreBackup, IsAStore) {
  Outcome outcome = gridstore({"backup", "store.gfs", "copy.gfs"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "copy.gfs holds 3 collections, 4 records and 8 index entries of store.gfs, all of "
            "which were read: no problems\n");
  EXPECT_EQ(outcome.err, "");
  gridfiles({"delete", "a"});
  outcome = run({GRIDFILES, {"--store", "copy.gfs", "--local", "-", "get", "a"}, folder(), "", {}});
  EXPECT_EQ(outcome.out, pattern_bytes(600'000));
  EXPECT_EQ(gridstore({"check", "copy.gfs"}).status, 0);
  outcome = gridstore({"backup", "--no-check", "copy.gfs", "another.gfs"});
  EXPECT_EQ(outcome.out, "copied copy.gfs to another.gfs\n");
}

TEST_F(GridstoreBackup, WhatCannotBe_IsSaid) {
  gridstore({"backup", "store.gfs", "copy.gfs"});
  Outcome outcome = gridstore({"backup", "store.gfs", "copy.gfs"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("copy.gfs is already a store"));
  outcome = gridstore({"backup", "nothing", "other.gfs"});
  EXPECT_EQ(outcome.status, 10);
  EXPECT_FALSE(exists("other.gfs"));
  outcome = gridstore({"backup", "store.gfs", "no/folder"});
  EXPECT_EQ(outcome.status, 10);
  EXPECT_THAT(outcome.err, HasSubstr("its parent directory does not exist"));
  for (const char* within : {"store.gfs/copy", "./store.gfs/../store.gfs/a/copy", "store.gfs"}) {
    outcome = gridstore({"backup", "store.gfs", within});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("would be inside the store's folder"));
    EXPECT_FALSE(exists("store.gfs/copy"));
  }
  EXPECT_EQ(gridstore({"backup", "store.gfs"}).status, 1);
}

// The shell sets the limit with ulimit -f, and needs the default action of SIGXFSZ. This process
// ignores the signal, because it has opened stores.
TEST_F(GridstoreBackup, LimitOfFileSizes_IsSaidAndLeavesNothing) {
  ::signal(SIGXFSZ, SIG_DFL);
  const auto limited = [&](std::vector<std::string> command) {
    std::vector<std::string> arguments{"-c", "ulimit -f 200; exec \"$@\"", "sh"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return run({"/bin/sh", arguments, folder(), "", {}});
  };
  for (const auto& command : {std::vector<std::string>{GRIDSTORE, "backup", "store.gfs", "copy"},
                              {GRIDSTORE, "dump", "store.gfs", "--archive=archive"},
                              {GRIDFILES, "--store", "store.gfs", "--local", "b", "get", "a"}}) {
    const Outcome outcome = limited(command);
    EXPECT_EQ(outcome.status, command.front() == GRIDFILES ? 1 : 17) << outcome.err;
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr("would exceed the limit of the file system"),
                                   HasSubstr("file too large")));
    EXPECT_THAT(names(), IsEmpty());
  }
}

TEST_F(GridstoreBackup, Compact_GivesSpaceBack) {
  gridfiles({"delete", "a"});
  const auto before = std::filesystem::file_size(store_path() / "data.mdb");
  const Outcome outcome = gridstore({"compact", "store.gfs"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, MatchesRegex("store.gfs: [0-9]+ bytes before, [0-9]+ now\n"));
  EXPECT_LT(std::filesystem::file_size(store_path() / "data.mdb"), before);
  EXPECT_EQ(gridstore_check().status, 0);
  EXPECT_EQ(gridstore({"compact", "nothing"}).status, 10);
}

TEST_F(GridstoreBackup, Upgrade_HasNothingToDo) {
  const Outcome outcome = gridstore({"upgrade", "store.gfs"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "store.gfs has format version 5, which is the newest: nothing to do\n");
  write_file("store.gfs/format", "gridmount store\nformat 99\n");
  EXPECT_EQ(gridstore({"upgrade", "store.gfs"}).status, 12);
}

TEST_F(GridstoreBackup, Upgrade_OfAnOlderStore_SaysWhatItWas) {
  write_file("store.gfs/format", "gridmount store\nformat 1\n");
  std::filesystem::remove(store_path() / "redo");
  std::filesystem::remove(store_path() / "pending");
  EXPECT_EQ(gridstore_check().status, 0);
  const Outcome outcome = gridstore({"upgrade", "store.gfs"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "store.gfs now has format version 5 (before: 1)\n");
  EXPECT_TRUE(exists("store.gfs/redo"));
  EXPECT_TRUE(exists("store.gfs/pending"));
  EXPECT_EQ(gridstore_check().status, 0);
}

}  // namespace
}  // namespace gridmount::tests
