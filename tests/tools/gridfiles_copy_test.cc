// Goal: cp of gridfiles makes a complete file of its own, and leaves the source as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class GridfilesCopy : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
  }
  bson::Document newest(const std::string& name) const {
    return must(bson::document_from_json(gridfiles({"--json", "stat", name}).out));
  }
};

TEST_F(GridfilesCopy, Cp_KeepsContentAndDescription) {
  const std::string content = pattern_bytes(1000);
  with_bucket([&](gridfs::Bucket& bucket) {
    gridfs::UploadOptions options;
    options.id = bson::Value("the source");
    options.chunk_bytes = 100;
    options.content_type = "text/plain";
    const bson::Document metadata = document("owner", "me");
    options.metadata = metadata;
    const bson::Document aliases = document("0", "other");
    options.aliases = aliases;
    upload(bucket, "a", "before");
    upload(bucket, "a", content, options);
  });
  const Outcome outcome = gridfiles({"cp", "a", "b/c"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) + "copied `a` to `b/c`\n");
  EXPECT_EQ(gridfiles({"cat", "b/c"}).out, content);
  const bson::Document source = newest("a");
  const bson::Document copy = newest("b/c");
  EXPECT_EQ(copy.view()["_id"].type(), bson::Type::kObjectId);
  EXPECT_GT(copy.view()["uploadDate"].as_date(), source.view()["uploadDate"].as_date());
  for (const char* field : {"length", "chunkSize", "md5", "contentType", "aliases", "metadata"}) {
    EXPECT_EQ(bson::Value(copy.view()[field]), bson::Value(source.view()[field])) << field;
  }
  EXPECT_EQ(gridfiles({"list", "a"}).out, "a\t6\na\t1000\n");
  EXPECT_EQ(gridfiles({"verify"}).status, 0);
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesCopy, Cp_AnEmptyFile_HasNoMetadata) {
  with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "empty", ""); });
  EXPECT_EQ(gridfiles({"cp", "empty", "copy"}).status, 0);
  EXPECT_EQ(gridfiles({"list", "copy"}).out, "copy\t0\n");
  EXPECT_FALSE(newest("copy").view().find("metadata"));
}

TEST_F(GridfilesCopy, Cp_ToATakenName_IsANewRevision_OrReplaces) {
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "a", "new");
    upload(bucket, "b", "old");
  });
  EXPECT_EQ(gridfiles({"cp", "a", "b"}).status, 0);
  EXPECT_EQ(gridfiles({"cat", "b"}).out, "new");
  EXPECT_EQ(gridfiles({"list", "b"}).out, "b\t3\nb\t3\n");
  const Outcome outcome = gridfiles({"--replace", "cp", "a", "b"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("successfully deleted all instances of `b` from GridFS"));
  EXPECT_EQ(gridfiles({"list"}).out, "a\t3\nb\t3\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesCopy, Cp_OfNothing_OrToItself) {
  with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "a", "x"); });
  const Outcome missing = gridfiles({"--replace", "cp", "none", "a"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("Failed: requested files not found: `none`\n"));
  const Outcome same = gridfiles({"--replace", "cp", "a", "a"});
  EXPECT_EQ(same.status, 1);
  EXPECT_THAT(same.err, HasSubstr("Failed: `a` cannot be copied to itself\n"));
  EXPECT_THAT(gridfiles({"cp", "a"}).err, StartsWith("20"));
  EXPECT_EQ(gridfiles({"list"}).out, "a\t1\n");
}

TEST_F(GridfilesCopy, Cp_OfADamagedFile_LeavesNothing) {
  with_bucket([](gridfs::Bucket& bucket) {
    gridfs::UploadOptions options;
    options.chunk_bytes = 100'000;
    upload(bucket, "a", pattern_bytes(10'000'000), options);
    upload(bucket, "b", "stays");
  });
  change([](engine::Database& database, engine::Transaction& transaction) {
    must(database.collection("fs.chunks")->remove(transaction, document("n", int32_t{99}), false));
  });
  const Outcome outcome = gridfiles({"--replace", "cp", "a", "b"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Failed: error while copying `a` to `b`: "));
  EXPECT_EQ(gridfiles({"list", "b"}).out, "b\t5\n");
  with_bucket([](gridfs::Bucket& bucket) {
    auto snapshot = must(bucket.store().snapshot());
    EXPECT_EQ(must(bucket.chunks().count(*snapshot, bson::View())), 100);
    EXPECT_EQ(must(bucket.detached().count(*snapshot, bson::View())), 0);
  });
}

// A mount keeps these fields about the chunks and names of the source.
TEST_F(GridfilesCopy, Cp_OfASparseFileWithNames_IsAFileOfItsOwn) {
  with_bucket([](gridfs::Bucket& bucket) {
    gridfs::UploadOptions options;
    options.id = bson::Value("sparse");
    options.chunk_bytes = 4;
    const bson::Document metadata = must(
        bson::document_from_json(R"({"sparse": true, "storedChunks": 2, "tag": 1,)"
                                 R"( "posix": {"mode": 33188, "links": 1, "allocated": []}})"));
    options.metadata = metadata;
    upload(bucket, "a", "aaaabbbbcccc", options);
  });
  change([](engine::Database& database, engine::Transaction& transaction) {
    must(database.collection("fs.chunks")->remove(transaction, document("n", int32_t{1}), false));
  });
  EXPECT_EQ(gridfiles({"cp", "a", "b"}).status, 0);
  EXPECT_EQ(gridfiles({"cat", "b"}).out, std::string("aaaa\0\0\0\0cccc", 12));
  EXPECT_EQ(bson::to_json(newest("b").view()["metadata"], bson::JsonForm::kRelaxed),
            R"({ "tag" : 1, "posix" : { "mode" : 33188 } })");
}

}  // namespace
}  // namespace gridmount::tests
