// Goal: a store detects that somebody else changed its files: removed or replaced them under its
// owner, copied them before it was closed, or replaced them by other kinds of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/local/files/store_folder.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/unopened_store.h"
#include "tests/engine/local/files/store_folder_fixture.h"
#include "tests/logged.h"

namespace gridmount::local {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreFilesTest : public StoreFolderTest {};

// A user may take the file `owner` for a stale lock, and remove it.
TEST_F(StoreFilesTest, WhileOpen_OwnerFileRemoved_IsStoreLockedAndNothingIsWritten) {
  auto environment = create();
  ASSERT_TRUE(environment);
  ASSERT_TRUE(put(**environment, "k", "committed"));
  fs::remove(store() / "owner");
  const std::string data = contents_of(store() / "data.mdb");
  const std::string checkpoint = contents_of(store() / "checkpoint");
  const std::string pid = std::to_string(::getpid());
  for (const bool has_owner_file : {false, true}) {
    if (has_owner_file) put_contents(store() / "owner", "");
    expect_error(open(), ErrorCode::kStoreLocked, "process " + pid + " has its file data.mdb");
    expect_error(open_read_only(), ErrorCode::kStoreLocked, "its file owner was removed");
    const auto compacted = compact_store(store());
    ASSERT_FALSE(compacted);
    EXPECT_EQ(compacted.error().code(), ErrorCode::kStoreLocked);
    const auto unopened = UnopenedStore::open(store());
    ASSERT_FALSE(unopened);
    EXPECT_EQ(unopened.error().code(), ErrorCode::kStoreLocked);
  }
  EXPECT_EQ(contents_of(store() / "data.mdb"), data);
  EXPECT_EQ(contents_of(store() / "checkpoint"), checkpoint);
  EXPECT_EQ(get(**environment, "k"), "committed");
  environment->reset();
  EXPECT_TRUE(open());
}

// Nothing is logged if nothing is lost.
TEST_F(StoreFilesTest, PutBackToTheCheckpoint_IsLogged) {
  make_killed_store();
  fs::copy(store(), folder_ / "copied");
  EXPECT_EQ(logged_by([&] { EXPECT_TRUE(open()); }), "");
  EXPECT_EQ(logged_by([&] { EXPECT_TRUE(open_after_power_loss()); }), "");
  const auto copied = [&] { return Environment::open(folder_ / "copied", {}); };
  EXPECT_THAT(logged_by([&] { EXPECT_TRUE(copied()); }),
              AllOf(HasSubstr("warning: store " + (folder_ / "copied").string()),
                    HasSubstr("put back to its last checkpoint because it is a copy"),
                    HasSubstr("that were not made durable are lost\n")));
  EXPECT_EQ(logged_by([&] { EXPECT_TRUE(copied()); }), "");
  make_killed_store();
  EXPECT_THAT(logged_by([&] { EXPECT_TRUE(open_after_power_loss()); }),
              HasSubstr("because it was not closed before this machine"));
  make_killed_store();
  fs::remove(store() / "owner");
  EXPECT_THAT(logged_by([&] { EXPECT_TRUE(open()); }),
              HasSubstr("because its file owner is missing"));
}

// Opening a pipe does not block.
TEST_F(StoreFilesTest, NoRegularFile_IsStoreDamagedNamingIt) {
  ASSERT_TRUE(create());
  fs::copy(store(), folder_ / "sound");
  const auto put_back = [&] {
    fs::remove_all(store());
    fs::copy(folder_ / "sound", store());
  };
  const std::vector<std::function<int(const char*)>> others = {
      [](const char* path) { return ::mkfifo(path, 0600); },
      [](const char* path) { return ::mkdir(path, 0700); },
      [](const char* path) { return ::symlink("/dev/zero", path); },
  };
  for (const char* name :
       {"format", "owner", "data.mdb", "checkpoint", "redo", "pending", "data.mdb-lock"}) {
    SCOPED_TRACE(name);
    for (const auto& make : others) {
      put_back();
      fs::remove(store() / name);
      ASSERT_EQ(make((store() / name).c_str()), 0);
      expect_error(open(), ErrorCode::kStoreDamaged, "not a regular file");
      EXPECT_THAT(open().error().message(), HasSubstr(name));
    }
  }
  // A store can be opened without the file `reserve`.
  put_back();
  fs::remove(store() / "reserve");
  ASSERT_EQ(::mkfifo((store() / "reserve").c_str(), 0600), 0);
  EXPECT_TRUE(open());
}

TEST_F(StoreFilesTest, ReadOnlyWithoutOwnerFile_SaysWhatMakesIt) {
  ASSERT_TRUE(create());
  fs::remove(store() / "owner");
  expect_error(open_read_only(), ErrorCode::kStoreDamaged, "its file owner is missing");
  EXPECT_TRUE(open());
  EXPECT_TRUE(open_read_only());
}

TEST_F(StoreFilesTest, BesideAnOwnerWhoseFilesWereCutOff_IsStoreDamaged) {
  const auto environment = create();
  ASSERT_TRUE(environment);
  ASSERT_TRUE(run_and_kill([&] {
    const OpenOptions beside{.read_only = true, .beside_owner = true};
    if (!Environment::open(store(), beside)) ::_exit(1);
  }));
  const auto expect_damaged = [&](const char* name) {
    const auto opened = open({.read_only = true, .beside_owner = true});
    expect_error(opened, ErrorCode::kStoreDamaged, name);
    EXPECT_THAT(opened.error().message(), HasSubstr("truncated"));
  };
  fs::resize_file(store() / "data.mdb-lock", 0);
  expect_damaged("data.mdb-lock");
  fs::resize_file(store() / "data.mdb", 0);
  expect_damaged("data.mdb was");
}

}  // namespace
}  // namespace gridmount::local
