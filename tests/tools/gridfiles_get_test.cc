// Goal: get, get_id and get_regex of gridfiles produce the right texts, exit statuses and local
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GridfilesGet : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
  }

  bson::Value stored(const std::string& name, const std::string& bytes,
                     const gridfs::UploadOptions& options = {}) const {
    bson::Value id;
    with_bucket([&](gridfs::Bucket& bucket) { id = upload(bucket, name, bytes, options); });
    return id;
  }
};

TEST_F(GridfilesGet, SeveralFiles) {
  stored("a.txt", "first");
  stored("b.txt", "second");
  Outcome outcome = gridfiles({"get", "a.txt", "b.txt"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) +
                                            "finished writing to `a.txt`\n\n"
                                            "finished writing to `b.txt`\n\n");
  EXPECT_EQ(read_file("a.txt"), "first");
  EXPECT_EQ(read_file("b.txt"), "second");
  EXPECT_THAT(names(), ElementsAre("a.txt", "b.txt"));
}

TEST_F(GridfilesGet, MissingFiles_AreNamedAndNothingIsWritten) {
  stored("there", "x");
  Outcome outcome = gridfiles({"get", "nothere"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "Failed: requested files not found: `nothere`\n");
  outcome = gridfiles({"get", "there", "no1", "no2"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "Failed: requested files not found: `no1`, `no2`\n");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GridfilesGet, ExistingLocalFile_IsKeptUnlessToldOtherwise) {
  stored("a.txt", "from the store");
  write_file("a.txt", "local");
  Outcome outcome = gridfiles({"get", "a.txt"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "Failed: opening local file `a.txt`: open a.txt: file exists (to allow this, set "
                "--overwriteLocal)\n");
  EXPECT_EQ(read_file("a.txt"), "local");

  ASSERT_EQ(chmod((folder() / "a.txt").c_str(), 0640), 0);
  outcome = gridfiles({"get", "--overwriteLocal", "a.txt"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(read_file("a.txt"), "from the store");
  struct stat attributes {};
  ASSERT_EQ(stat((folder() / "a.txt").c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 07777, 0640u);
  EXPECT_THAT(names(), ElementsAre("a.txt"));
}

TEST_F(GridfilesGet, DanglingLink_CountsAsExisting) {
  stored("a", "x");
  std::filesystem::create_symlink("target", folder() / "a");
  EXPECT_EQ(gridfiles({"get", "a"}).status, 1);
  EXPECT_FALSE(exists("target"));
  EXPECT_EQ(gridfiles({"--overwriteLocal", "get", "a"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "a"));
  EXPECT_EQ(read_file("target"), "x");
}

TEST_F(GridfilesGet, Device_IsWrittenTo) {
  stored("a", "x");
  Outcome outcome = gridfiles({"--overwriteLocal", "--local", "/dev/null", "get", "a"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(GridfilesGet, StandardOutput) {
  std::string bytes = pattern_bytes(1000000);
  stored("a", bytes);
  Outcome outcome = gridfiles({"--local", "-", "get", "a"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, bytes);
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) + "finished writing to `-`\n\n");
}

TEST_F(GridfilesGet, LocalWithSeveralFiles_IsRefused) {
  stored("a", "1");
  stored("b", "2");
  const std::string kMessage = "Failed: cannot get multiple files with --local specified\n";
  Outcome outcome = gridfiles({"--local", "x", "get", "a", "b"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err), kConnected + kMessage);
  outcome = gridfiles({"--local", "x", "get_regex", "."});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err), kConnected + kMessage);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GridfilesGet, SeveralRevisions_TheNewestIsGot) {
  stored("a", "oldest");
  usleep(2000);
  stored("a", "older");
  usleep(2000);
  stored("a", "newest");
  stored("b", "other");
  Outcome outcome = gridfiles({"get", "a"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file("a"), "newest");
  outcome = gridfiles({"--overwriteLocal", "get_regex", "^[ab]$"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file("a"), "newest");
  EXPECT_EQ(read_file("b"), "other");
}

TEST_F(GridfilesGet, FolderThatIsMissing_IsAnError) {
  stored("sub/a", "x");
  Outcome outcome = gridfiles({"get", "sub/a"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "Failed: opening local file `sub/a`: open sub/a: no such file or directory\n");
  std::filesystem::create_directory(folder() / "sub");
  EXPECT_EQ(gridfiles({"get", "sub/a"}).status, 0);
  EXPECT_EQ(read_file("sub/a"), "x");
}

TEST_F(GridfilesGet, MissingLastChunk_FailsAndLeavesNoFile) {
  stored("a", pattern_bytes(600000));
  change([](engine::Database& database, engine::Transaction& transaction) {
    EXPECT_EQ(must(database.collection("fs.chunks")
                       ->remove(transaction, document("n", int32_t{2}), false)),
              1);
  });
  Outcome outcome = gridfiles({"get", "a"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(without_times(outcome.err),
              HasSubstr("Failed: error while writing Data into local file `a`: "));
  EXPECT_THAT(names(), IsEmpty());

  write_file("a", "before");
  EXPECT_EQ(gridfiles({"--overwriteLocal", "get", "a"}).status, 1);
  EXPECT_EQ(read_file("a"), "before");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(GridfilesGet, ById) {
  stored("a", "x");
  gridfs::UploadOptions options;
  options.id = bson::Value("some id");
  stored("b", "y", options);
  Outcome outcome = gridfiles({"get_id", " some id "});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) + "finished writing to `b`\n\n");
  EXPECT_EQ(read_file("b"), "y");

  outcome = gridfiles({"get_id", "another"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "Failed: no such file with _id: `another`\n");
  outcome = gridfiles({"get_id", "{"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(without_times(outcome.err),
              HasSubstr("Failed: error parsing id (`{\"_id\":{}`) as Extended JSON: "));
}

TEST_F(GridfilesGet, ByRegex) {
  stored("a1", "1");
  stored("a2", "2");
  stored("A3", "3");
  stored("b", "4");
  Outcome outcome = gridfiles({"get_regex", "^a"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) +
                                            "finished writing to `a1`\n\n"
                                            "finished writing to `a2`\n\n");
  EXPECT_THAT(names(), ElementsAre("a1", "a2"));
  EXPECT_EQ(gridfiles({"--overwriteLocal", "get_regex", "^a", "--regexOptions", "i"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("A3", "a1", "a2"));

  outcome = gridfiles({"get_regex", "^z"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "Failed: files matching the following pattern were not found: `^z`\n");
  outcome = gridfiles({"get_regex", "("});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(without_times(outcome.err), HasSubstr("Failed: "));
}

TEST_F(GridfilesGet, NamesOutsideTheFolder_AreRefused) {
  std::filesystem::create_directory(folder() / "work");
  gridfs::UploadOptions options;
  options.id = bson::Value("out");
  stored("../outside", "x", options);
  auto in_work = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", "../store.gfs"});
    return run({GRIDFILES, std::move(arguments), folder() / "work", "", {}});
  };
  const std::string kRefused =
      "connected to: ../store.gfs\n"
      "Failed: `../outside` lies outside the current directory; set --allowUnsafeTraversal if you "
      "really want to write to that path\n";
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"get_id", "out"}, {"get_regex", "outside"}, {"delete_id", "out"}}) {
    Outcome outcome = in_work(command);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(without_times(outcome.err), kRefused);
  }
  EXPECT_FALSE(exists("outside"));
  Outcome outcome = in_work({"--allowUnsafeTraversal", "get_id", "out"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err),
            "connected to: ../store.gfs\n"
            "WARNING: `../outside` lies outside the current directory. Restoring anyway per "
            "configuration.\n"
            "finished writing to `../outside`\n\n");
  EXPECT_EQ(read_file("outside"), "x");
}

TEST_F(GridfilesGet, LinksInTheFolder_AreNotFollowedForNamesOfTheBucket) {
  std::filesystem::create_directory(folder() / "work");
  std::filesystem::create_directory(folder() / "elsewhere");
  std::filesystem::create_directory(folder() / "work" / "kept");
  std::filesystem::create_symlink("../elsewhere", folder() / "work" / "folder");
  std::filesystem::create_symlink("../elsewhere/made", folder() / "work" / "file");
  gridfs::UploadOptions options;
  options.id = bson::Value("deep");
  stored("folder/a", "x", options);
  stored("file", "x");
  stored("kept/b", "x");
  auto in_work = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", "../store.gfs", "--overwriteLocal"});
    return run({GRIDFILES, std::move(arguments), folder() / "work", "", {}});
  };
  for (const auto& [command, name] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"get_id", "deep"}, "folder/a"},
           {{"get_regex", "^folder"}, "folder/a"},
           {{"get_regex", "^file"}, "file"}}) {
    const Outcome outcome = in_work(command);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(without_times(outcome.err),
              "connected to: ../store.gfs\n"
              "Failed: the path `" +
                  name +
                  "` contains a symbolic link; set --allowUnsafeTraversal if you really "
                  "want to write to its target\n");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "elsewhere"));
  EXPECT_EQ(in_work({"get_regex", "^kept"}).status, 0);
  EXPECT_EQ(read_file("work/kept/b"), "x");
  EXPECT_EQ(in_work({"--allowUnsafeTraversal", "get_regex", "^f"}).status, 0);
  EXPECT_EQ(read_file("elsewhere/a"), "x");
  EXPECT_EQ(read_file("elsewhere/made"), "x");
}

TEST_F(GridfilesGet, FileOfTheNameDash_IsAFile) {
  stored("-", "bytes");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"get", "-"}, std::vector<std::string>{"get_regex", "^-$"}}) {
    const Outcome outcome = gridfiles(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(read_file("-"), "bytes");
    std::filesystem::remove(folder() / "-");
  }
}

TEST_F(GridfilesGet, ReadOnlyStore_IsReadable) {
  stored("a", "x");
  // Simulates another user who may only read. Root can write anyway, so as root this tests less.
  for (const auto& entry : std::filesystem::directory_iterator(store_path())) {
    ASSERT_EQ(chmod(entry.path().c_str(), 0444), 0);
  }
  EXPECT_EQ(gridfiles({"list"}).out, "a\t1\n");
  EXPECT_EQ(gridfiles({"--local", "-", "get", "a"}).out, "x");
}

}  // namespace
}  // namespace gridmount::tests
