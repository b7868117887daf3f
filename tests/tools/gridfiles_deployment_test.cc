// Goal: gridfiles works in a new bucket of a replica set. Method: MongoDB's own server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/peer/mongod_process.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::HasSubstr;

class GridfilesDeployment : public StoreTest {
 protected:
  static void SetUpTestSuite() {
    peer::require_mongod();
    server_ = must(peer::MongodProcess::start(peer::MongodKind::kReplicaSet));
  }
  static void TearDownTestSuite() { server_.reset(); }

  // Runs gridfiles on a database of the test's own.
  Outcome gridfiles(std::vector<std::string> arguments) const {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    arguments.insert(arguments.begin(), {"--uri", server_->uri(), "--db", test});
    return gridfiles_plain(std::move(arguments));
  }
  void expect_files(int64_t count) const {
    const std::string listed = gridfiles({"list"}).out;
    EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), count) << listed;
    const Outcome verified = gridfiles({"verify"});
    EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
  }

 private:
  static inline std::unique_ptr<peer::MongodProcess> server_;
};

TEST_F(GridfilesDeployment, Put_MakesTheBucket) {
  write_file("a", "content");
  const Outcome outcome = gridfiles({"put", "a"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(gridfiles({"cat", "a"}).out, "content");
}

// The first transfers make the bucket and its collections all at once.
TEST_F(GridfilesDeployment, Jobs_InANewBucket) {
  for (int i = 0; i < 40; ++i) {
    write_file("d/" + std::to_string(i), pattern_bytes(static_cast<size_t>(i) * 200'000));
  }
  const Outcome put = gridfiles({"--jobs=8", "sync_put", "d", "d"});
  EXPECT_EQ(put.status, 0) << put.err;
  expect_files(40);
  EXPECT_THAT(gridfiles({"--jobs=8", "sync_get", "copy", "d"}).err,
              HasSubstr("transferred 40 files, deleted 0 files; 0 files were equal"));
  EXPECT_EQ(read_file("copy/39"), read_file("d/39"));
  EXPECT_EQ(gridfiles({"--dry-run", "--delete", "sync_put", "copy", "d"}).out, "");
}

TEST_F(GridfilesDeployment, CopiesRevisionsAndFields) {
  write_file("a", "old");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  EXPECT_EQ(gridfiles({"--set", R"({"metadata": {"owner": "me"}})", "annotate", "a"}).status, 0);
  write_file("a", "newer");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  EXPECT_EQ(gridfiles({"--revision=0", "restore", "a"}).status, 0);
  EXPECT_EQ(gridfiles({"cp", "a", "b/c"}).status, 0);
  EXPECT_EQ(gridfiles({"cat", "b/c"}).out, "old");
  EXPECT_EQ(gridfiles({"--filter", R"({"metadata.owner": "me"})", "list", "b/"}).out, "b/c\t3\n");
  EXPECT_THAT(gridfiles({"revisions", "a"}).out,
              testing::MatchesRegex("2\t-1.*\n1\t-2.*\n0\t-3.*\n"));
  EXPECT_EQ(gridfiles({"tree"}).out,
            ".\n├── [          3]  a\n└── [          3]  b/\n    └── [          3]  c\n"
            "\n1 directory, 2 files\n");
  expect_files(4);
}

}  // namespace
}  // namespace gridmount::tests
