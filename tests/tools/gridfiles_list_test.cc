// Goal: list, search, delete and delete_id of gridfiles work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class GridfilesList : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([](gridfs::Bucket& bucket) {
      upload(bucket, "b.txt", "12345");
      upload(bucket, "a.txt", "");
      upload(bucket, "a+b (1)", "123");
      gridfs::UploadOptions options;
      options.id = bson::Value("the id");
      upload(bucket, "ab", "1", options);
    });
  }
};

TEST_F(GridfilesList, All_InOrderOfInsertion) {
  Outcome outcome = gridfiles({"list"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "b.txt\t5\na.txt\t0\na+b (1)\t3\nab\t1\n");
  EXPECT_EQ(without_times(outcome.err), kConnected);
}

TEST_F(GridfilesList, Prefix_IsLiteral) {
  EXPECT_EQ(gridfiles({"list", "a+"}).out, "a+b (1)\t3\n");
  EXPECT_EQ(gridfiles({"list", "a."}).out, "a.txt\t0\n");
  EXPECT_EQ(gridfiles({"list", "a"}).out, "a+b (1)\t3\na.txt\t0\nab\t1\n");
  EXPECT_EQ(gridfiles({"list", "\xff"}).out, "");
  EXPECT_EQ(gridfiles({"list", "none"}).status, 0);
  // An empty argument counts as no argument.
  EXPECT_EQ(gridfiles({"list", ""}).out, "b.txt\t5\na.txt\t0\na+b (1)\t3\nab\t1\n");
}

TEST_F(GridfilesList, Search_TakesARegularExpression) {
  // The names are in index order or in insertion order, depending on the plan.
  EXPECT_THAT(gridfiles({"search", "\\.txt$"}).out,
              AnyOf("a.txt\t0\nb.txt\t5\n", "b.txt\t5\na.txt\t0\n"));
  EXPECT_EQ(gridfiles({"search", "none"}).out, "");
  Outcome outcome = gridfiles({"search", "("});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(without_times(outcome.err),
              HasSubstr("Failed: error retrieving list of GridFS files: "));
}

TEST_F(GridfilesList, BucketThatDoesNotExist_IsEmpty) {
  Outcome outcome = gridfiles({"--prefix", "nothing", "list"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(GridfilesList, FilesDocumentOfADriver_IsListedByWhatItHas) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    auto files = database.collection("fs.files");
    bson::Builder without_name;
    without_name.append("length", 7.0).append("chunkSize", int32_t{10});
    must(files->insert(transaction, std::move(without_name).finish()));
    must(files->insert(transaction, document("filename", "no length")));
  });
  Outcome outcome = gridfiles({"list"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\n\t7\nno length\t0\n"));
  EXPECT_THAT(outcome.err, HasSubstr("WARNING: the length in the files document of `no length`"));
}

TEST_F(GridfilesList, Delete_RemovesAllOfTheName) {
  with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "ab", "second revision"); });
  const std::string kDeleted = "successfully deleted all instances of `ab` from GridFS\n\n";
  Outcome outcome = gridfiles({"delete", "ab"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err), kConnected + kDeleted);
  EXPECT_EQ(gridfiles({"list", "ab"}).out, "");
  // Again: a missing name is not an error.
  outcome = gridfiles({"delete", "ab"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err), kConnected + kDeleted);
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesList, DeleteId_RemovesThatFile) {
  Outcome outcome = gridfiles({"delete_id", "the id"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "successfully deleted file with _id `the id` from GridFS\n");
  EXPECT_EQ(gridfiles({"list", "ab"}).out, "");
  outcome = gridfiles({"delete_id", "the id"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "Failed: no such file with _id: `the id`\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

}  // namespace
}  // namespace gridmount::tests
