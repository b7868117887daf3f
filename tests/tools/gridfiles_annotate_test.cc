// Goal: `gridfiles annotate` changes only the fields that it may change, and only in the selected
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class GridfilesAnnotate : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([](gridfs::Bucket& bucket) {
      gridfs::UploadOptions options;
      const bson::Document metadata =
          must(bson::document_from_json(R"({"tag": 1, "stays": 2, "posix": {"mode": 33188}})"));
      options.metadata = metadata;
      upload(bucket, "photos/a", "a", options);
      upload(bucket, "photos/b", "bb");
      upload(bucket, "photos/b", "bb");
      upload(bucket, "plan", "x");
    });
  }
  // Returns a field of the newest file, or "" if it has none.
  std::string field(const std::string& name, const std::string& key) const {
    const bson::Document file =
        must(bson::document_from_json(gridfiles({"--json", "stat", name}).out));
    const auto value = file.view().find(key);
    return value ? bson::to_json(*value, bson::JsonForm::kRelaxed) : "";
  }
};

TEST_F(GridfilesAnnotate, SetsAndRemovesFields_OfAllFilesWithThePrefix) {
  const Outcome outcome = gridfiles(
      {"--set",
       R"({"contentType": "image/jpeg", "metadata": {"owner": {"name": "me"}, "tag": null}})",
       "annotate", "photos/"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) + "set fields of 3 files\n");
  EXPECT_EQ(field("photos/a", "contentType"), R"("image/jpeg")");
  EXPECT_EQ(field("photos/a", "metadata"),
            R"({ "stays" : 2, "posix" : { "mode" : 33188 }, "owner" : { "name" : "me" } })");
  EXPECT_EQ(field("photos/b", "metadata"), R"({ "owner" : { "name" : "me" } })");
  EXPECT_EQ(field("plan", "contentType"), "");
  EXPECT_EQ(gridfiles({"--set", R"({"contentType": null})", "annotate"}).status, 0);
  EXPECT_EQ(field("photos/a", "contentType"), "");
  EXPECT_EQ(gridfiles({"verify"}).status, 0);
  EXPECT_EQ(gridstore_check().status, 0);
}

// put stores the content type in metadata, as mongofiles does.
TEST_F(GridfilesAnnotate, ContentTypeOfPut_IsReplacedAndRemoved) {
  write_file("typed", "abc");
  ASSERT_EQ(gridfiles({"--type", "text/plain", "put", "typed"}).status, 0);
  EXPECT_EQ(field("typed", "metadata"), R"({ "contentType" : "text/plain" })");
  EXPECT_EQ(gridfiles({"--set", R"({"contentType": "a/b"})", "annotate", "typed"}).status, 0);
  EXPECT_EQ(field("typed", "contentType"), R"("a/b")");
  EXPECT_EQ(field("typed", "metadata"), "{  }");
  EXPECT_EQ(gridfiles({"--set", R"({"contentType": null})", "annotate", "typed"}).status, 0);
  EXPECT_EQ(field("typed", "contentType"), "");
}

TEST_F(GridfilesAnnotate, Filter_ChoosesFiles) {
  const std::string set = R"({"metadata": {"small": true}})";
  EXPECT_THAT(gridfiles({"--filter", R"({"length": 1})", "--set", set, "annotate", "photos/"}).err,
              EndsWith("set fields of 1 file\n"));
  EXPECT_EQ(gridfiles({"--filter", R"({"metadata.small": true})", "list"}).out, "photos/a\t1\n");
  EXPECT_THAT(gridfiles({"--set", set, "annotate", "none"}).err,
              EndsWith("set fields of 0 files\n"));
}

TEST_F(GridfilesAnnotate, ManyFiles_AreChangedInSeveralTransactions) {
  with_bucket([](gridfs::Bucket& bucket) {
    for (int i = 0; i < 250; ++i) upload(bucket, "many/" + std::to_string(i), "");
  });
  EXPECT_THAT(gridfiles({"--set", R"({"metadata": {"n": 1}})", "annotate", "many/"}).err,
              EndsWith("set fields of 250 files\n"));
  const Outcome listed = gridfiles({"--filter", R"({"metadata.n": 1})", "list"});
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 250);
}

TEST_F(GridfilesAnnotate, WhatCannotBeSet_IsRefused_AndNothingChanges) {
  const std::string before = gridfiles({"--json", "list"}).out;
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"length": 5})", "the field `length` cannot be set; contentType and metadata can"},
      {R"({"chunkSize": 5})", "the field `chunkSize` cannot be set"},
      {R"({"_id": 5})", "the field `_id` cannot be set"},
      {R"({"filename": "x"})", "the field `filename` cannot be set"},
      {R"({"metadata.tag": 5})", "the field `metadata.tag` cannot be set"},
      {R"({"contentType": 5})", "contentType must be a string"},
      {R"({"metadata": 5})", "metadata must be a document"},
      {R"({"metadata": null})", "metadata must be a document"},
      {R"({"metadata": {"posix": {}}})", "`metadata.posix` belongs to mounts"},
      {R"({"metadata": {"sparse": true}})", "`metadata.sparse` belongs to mounts"},
      {R"({"metadata": {"contentType": "a/b"}})", "give contentType beside metadata"},
      {R"({"metadata": {"a.b": 1}})", "the name `a.b` in metadata"},
      {R"({"metadata": {"$inc": 1}})", "the name `$inc` in metadata"},
      {R"({})", "it names no field"},
      {R"({"metadata": {}})", "it names no field"},
  };
  for (const auto& [set, message] : kWrong) {
    const Outcome outcome = gridfiles({"--set", set, "annotate"});
    EXPECT_EQ(outcome.status, 1) << set;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("Failed: --set: "))) << set;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << set;
  }
  EXPECT_EQ(gridfiles({"--json", "list"}).out, before);
  EXPECT_THAT(gridfiles({"annotate"}).err, HasSubstr("`annotate` needs --set"));
  EXPECT_THAT(gridfiles({"--set", "{}", "list"}).err, HasSubstr("`list` does not take --set"));
  EXPECT_THAT(gridfiles({"--set", "{x", "annotate"}).err,
              HasSubstr("is not a document in Extended JSON"));
}

}  // namespace
}  // namespace gridmount::tests
