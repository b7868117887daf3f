// Goal: sync_put and sync_get of gridfiles transfer what differs, remove only what they should, and
// stay in their folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class GridfilesSync : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    write_file("local/a", "a");
    write_file("local/sub/b", "bb");
    for (const char* name : {"local/a", "local/sub/b"}) set_mtime(name, 1'000'000'000);
  }
  void set_mtime(const std::string& name, int64_t seconds) const {
    const std::array<timespec, 2> times = {timespec{seconds, 123'456'789},
                                           timespec{seconds, 123'456'789}};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder() / name).c_str(), times.data(), 0), 0);
  }
  timespec mtime(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat((folder() / name).c_str(), &status), 0);
    return status.st_mtim;
  }
  // Returns what the command would do, and expects that it then does so and that nothing is left to
  // do.
  std::string done_by(std::vector<std::string> arguments) const {
    std::vector<std::string> dry = arguments;
    dry.insert(dry.begin(), "--dry-run");
    const Outcome planned = gridfiles(dry);
    EXPECT_EQ(planned.status, 0) << planned.err;
    EXPECT_EQ(gridfiles(dry).out, planned.out);
    const Outcome outcome = gridfiles(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(gridfiles(dry).out, "");
    EXPECT_EQ(gridstore_check().status, 0);
    return planned.out;
  }
};

TEST_F(GridfilesSync, Put_TransfersOnlyWhatDiffers) {
  EXPECT_EQ(done_by({"sync_put", "local", "d/"}), "put\ta\nput\tsub/b\n");
  EXPECT_EQ(gridfiles({"list"}).out, "d/a\t1\nd/sub/b\t2\n");
  write_file("local/a", "A");  // the same length
  set_mtime("local/a", 1'000'000'001);
  write_file("local/sub/c", "");
  EXPECT_EQ(done_by({"sync_put", "local/", "d"}), "put\ta\nput\tsub/c\n");
  EXPECT_EQ(gridfiles({"cat", "d/a"}).out, "A");
  EXPECT_EQ(gridfiles({"list", "d/a"}).out, "d/a\t1\nd/a\t1\n");
  write_file("local/a", "longer");
  set_mtime("local/a", 1'000'000'001);
  EXPECT_EQ(done_by({"--replace", "sync_put", "local", "d"}), "put\ta\n");
  EXPECT_EQ(gridfiles({"list", "d/a"}).out, "d/a\t6\n");
}

TEST_F(GridfilesSync, Put_KeepsTheTime_AndGetSetsIt) {
  EXPECT_EQ(done_by({"--type", "text/plain", "sync_put", "local"}), "put\ta\nput\tsub/b\n");
  EXPECT_THAT(gridfiles({"--json", "stat", "a"}).out,
              HasSubstr(R"("metadata" : { "contentType" : "text/plain", "posix" : { "mtime" : )"
                        R"({ "$date" : "2001-09-09T01:46:40.123Z" }, "mtimeNs" : 456789 } })"));
  EXPECT_EQ(done_by({"sync_get", "copy"}), "get\ta\nget\tsub/b\n");
  EXPECT_EQ(read_file("copy/sub/b"), "bb");
  EXPECT_EQ(mtime("copy/a").tv_sec, 1'000'000'000);
  EXPECT_EQ(mtime("copy/a").tv_nsec, 123'456'789);
  set_mtime("copy/a", 1'000'000'009);
  EXPECT_EQ(done_by({"sync_get", "copy"}), "get\ta\n");
}

TEST_F(GridfilesSync, FilesOfDrivers_CountWithTheirUploadDate) {
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "a", "x");
    upload(bucket, "a", "y");
  });
  EXPECT_EQ(done_by({"sync_put", "local"}), "put\tsub/b\n");
  EXPECT_EQ(gridfiles({"delete", "sub/b"}).status, 0);
  EXPECT_EQ(done_by({"sync_get", "local"}), "get\ta\n");
  EXPECT_EQ(read_file("local/a"), "y");
  set_mtime("local/a", 4'000'000'000);
  EXPECT_EQ(done_by({"sync_put", "local"}), "put\ta\nput\tsub/b\n");
}

TEST_F(GridfilesSync, Checksum_ComparesContents) {
  with_bucket(
      [](gridfs::Bucket& bucket) {
        upload(bucket, "a", "a");
        upload(bucket, "sub/b", "xx");
      },
      {.md5 = false});
  set_mtime("local/a", 4'000'000'000);
  EXPECT_EQ(done_by({"--checksum", "sync_put", "local"}), "put\tsub/b\n");
  set_mtime("local/sub/b", 4'000'000'000);
  EXPECT_EQ(done_by({"--checksum", "sync_get", "local"}), "");
}

TEST_F(GridfilesSync, Delete_RemovesWhatTheSourceHasNot) {
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "d/old", "1");
    upload(bucket, "d/old", "2");
    upload(bucket, "d", "not below it");
    upload(bucket, "dd/old", "of others");
  });
  EXPECT_EQ(done_by({"sync_put", "local", "d"}), "put\ta\nput\tsub/b\n");
  EXPECT_EQ(done_by({"--delete", "sync_put", "local", "d"}), "delete\told\n");
  EXPECT_EQ(gridfiles({"--sort", R"({"filename": 1})", "list"}).out,
            "d\t12\nd/a\t1\nd/sub/b\t2\ndd/old\t9\n");
  write_file("local/x/y/z", "");
  write_file("local/sub/x", "");
  EXPECT_EQ(done_by({"--delete", "sync_get", "local", "d"}), "delete\tsub/x\ndelete\tx/y/z\n");
  EXPECT_FALSE(exists("local/x"));
  EXPECT_TRUE(exists("local/sub/b"));
}

TEST_F(GridfilesSync, Get_OfNothing_RemovesNothing) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--delete", "sync_get", "local", "none/"},
        {"--delete", "sync_get", "local"}}) {
    const Outcome outcome = gridfiles(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr(arguments.size() == 4
                                           ? "Failed: no file has a name that begins with `none/`"
                                           : "Failed: the bucket `fs` has no files"));
  }
  EXPECT_TRUE(exists("local/sub/b"));
}

TEST_F(GridfilesSync, Put_OfNothing) {
  const Outcome outcome = gridfiles({"--delete", "sync_put", "none"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, EndsWith("Failed: open none: no such file or directory\n"));
}

// The folder may be one on which nothing is mounted.
TEST_F(GridfilesSync, PutOfAFolderWithoutFiles_RemovesNothing) {
  EXPECT_EQ(done_by({"sync_put", "local", "d"}), "put\ta\nput\tsub/b\n");
  std::filesystem::create_directories(folder() / "empty/below");
  const Outcome outcome = gridfiles({"--delete", "sync_put", "empty", "d"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Failed: the folder `empty` has no files, so --delete"));
  EXPECT_EQ(done_by({"sync_put", "empty", "d"}), "");
  EXPECT_EQ(gridfiles({"list", "d/"}).out, "d/a\t1\nd/sub/b\t2\n");
}

TEST_F(GridfilesSync, WhatCannotBeTransferred_IsLeftAlone) {
  std::filesystem::create_symlink("a", folder() / "local/link");
  std::filesystem::create_directory_symlink("sub", folder() / "local/links");
  with_bucket([](gridfs::Bucket& bucket) {
    for (const char* name : {"link", "links/b", "..", "../outside", "sub/../../outside", "/root",
                             "sub//b", "./a", "sub/"}) {
      upload(bucket, std::string("d/") + name, "harm");
    }
    gridfs::UploadOptions options;
    const bson::Document pipe = must(bson::document_from_json(R"({"posix": {"mode": 4516}})"));
    options.metadata = pipe;
    upload(bucket, "d/pipe", "", options);
  });
  EXPECT_EQ(done_by({"--delete", "sync_put", "local", "d"}), "put\ta\nput\tsub/b\n");
  EXPECT_THAT(
      gridfiles({"sync_put", "local", "d"}).err,
      HasSubstr(
          "leaving out `d/../outside`, which is not a path that a file below a folder can have"));
  const Outcome outcome = gridfiles({"--delete", "sync_get", "local", "d"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the path `local/link` is or contains a symbolic link"));
  EXPECT_EQ(gridfiles({"delete", "d/link"}).status, 0);
  EXPECT_THAT(gridfiles({"sync_get", "local", "d"}).err,
              HasSubstr("the path `local/links/b` is or contains a symbolic link"));
  EXPECT_EQ(gridfiles({"delete", "d/links/b"}).status, 0);
  EXPECT_EQ(done_by({"--delete", "sync_get", "local", "d"}), "");
  EXPECT_EQ(done_by({"sync_get", "new/folder", "d"}), "get\ta\nget\tsub/b\n");
  EXPECT_THAT(names(), ElementsAre("local", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "local/link"));
  EXPECT_EQ(read_file("local/a"), "a");
}

TEST_F(GridfilesSync, TheFolder_MayBeALink_AndMayContainTheStore) {
  std::filesystem::create_directory_symlink("local", folder() / "link");
  EXPECT_EQ(done_by({"sync_put", "link/", "d"}), "put\ta\nput\tsub/b\n");
  std::filesystem::remove_all(folder() / "local/sub");
  EXPECT_EQ(done_by({"sync_get", "link", "d"}), "get\tsub/b\n");
  std::filesystem::remove(folder() / "link");
  EXPECT_EQ(done_by({"--delete", "sync_put", "."}),
            "put\tlocal/a\nput\tlocal/sub/b\ndelete\td/a\ndelete\td/sub/b\n");
  std::filesystem::remove_all(folder() / "local/sub");
  EXPECT_EQ(done_by({"--delete", "sync_get", "."}), "get\tlocal/sub/b\n");
}

TEST_F(GridfilesSync, ADamagedFile_LeavesTheLocalOne) {
  write_file("local/a", pattern_bytes(600'000));
  EXPECT_EQ(done_by({"sync_put", "local"}), "put\ta\nput\tsub/b\n");
  write_file("local/a", "mine");
  change([](engine::Database& database, engine::Transaction& transaction) {
    must(database.collection("fs.chunks")->remove(transaction, document("n", int32_t{1}), false));
  });
  const Outcome outcome = gridfiles({"--delete", "sync_get", "local"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("Failed: error while writing `a` into local file `local/a`: "));
  EXPECT_EQ(read_file("local/a"), "mine");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder() / "local"), {}), 2);
}

TEST_F(GridfilesSync, Options_OfSync_AreOfNoOtherCommand) {
  for (const char* option : {"--checksum", "--delete", "--dry-run"}) {
    const Outcome outcome = gridfiles({option, "put", "local/a"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr(std::string("`put` does not take ") + option));
  }
  EXPECT_EQ(gridfiles_plain({"--store", "new.gfs", "--create", "sync_put", "local"}).status, 0);
  EXPECT_TRUE(exists("new.gfs"));
}

}  // namespace
}  // namespace gridmount::tests
