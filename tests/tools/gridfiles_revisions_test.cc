// Goal: the revisions of a name in gridfiles: revisions, restore, and --revision of get and cat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class GridfilesRevisions : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([&](gridfs::Bucket& bucket) {
      for (const std::string text : {"old", "middle", "newest"}) {
        gridfs::UploadOptions options;
        options.id = bson::Value("the " + text);
        const bson::Document metadata = document("text", text);
        options.metadata = metadata;
        upload(bucket, "plan", text, options);
      }
      upload(bucket, "planning", "another name");
    });
    for (const auto& [id, day] : {std::pair("the old", 1), {"the middle", 2}, {"the newest", 3}}) {
      set_upload_date(id, {(19'723 + day - 1) * 86'400'000LL + 250});
    }
  }
  void set_upload_date(const std::string& id, bson::Date date) const {
    change([&](engine::Database& database, engine::Transaction& transaction) {
      bson::Builder update;
      update.append("$set", document("uploadDate", date));
      must(database.collection("fs.files")
               ->update(transaction, document("_id", id), std::move(update).finish()));
    });
  }
};

TEST_F(GridfilesRevisions, Revisions_AreNumberedAsInTheSpecification) {
  const Outcome outcome = gridfiles({"revisions", "plan"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out,
            "2\t-1\t2024-01-03T00:00:00.250Z\t6\t\"the newest\"\n"
            "1\t-2\t2024-01-02T00:00:00.250Z\t6\t\"the middle\"\n"
            "0\t-3\t2024-01-01T00:00:00.250Z\t3\t\"the old\"\n");
  const std::string json = gridfiles({"--json", "revisions", "plan"}).out;
  EXPECT_THAT(json, StartsWith("{ \"_id\" : \"the newest\", \"length\" : 6, "));
  EXPECT_THAT(json, HasSubstr("\n{ \"_id\" : \"the old\", \"length\" : 3, "));
}

TEST_F(GridfilesRevisions, Revisions_OfNothing) {
  const Outcome outcome = gridfiles({"revisions", "none"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, EndsWith("Failed: requested files not found: `none`\n"));
}

TEST_F(GridfilesRevisions, CatAndGet_OfARevision) {
  EXPECT_EQ(gridfiles({"--revision", "0", "cat", "plan"}).out, "old");
  EXPECT_EQ(gridfiles({"--revision=2", "cat", "plan"}).out, "newest");
  EXPECT_EQ(gridfiles({"--revision=-2", "--range=1-2", "cat", "plan"}).out, "id");
  EXPECT_EQ(gridfiles({"--revision=-3", "get", "plan"}).status, 0);
  EXPECT_EQ(read_file("plan"), "old");
  for (const char* command : {"cat", "get", "restore"}) {
    for (const char* revision : {"3", "-4", "2147483647", "-2147483648"}) {
      const Outcome outcome = gridfiles({std::string("--revision=") + revision, command, "plan"});
      EXPECT_EQ(outcome.status, 1);
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, EndsWith(std::string("Failed: `plan` has no revision ") + revision +
                                        "; `gridfiles revisions` lists those that it has\n"));
    }
    EXPECT_THAT(gridfiles({"--revision=0", command, "none"}).err,
                EndsWith("Failed: requested files not found: `none`\n"));
  }
}

TEST_F(GridfilesRevisions, Restore_MakesACopyTheNewest) {
  const Outcome outcome = gridfiles({"--revision=0", "restore", "plan"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) + "restored revision 0 of `plan`\n");
  EXPECT_EQ(gridfiles({"cat", "plan"}).out, "old");
  EXPECT_THAT(gridfiles({"--json", "stat", "plan"}).out, HasSubstr("{ \"text\" : \"old\" }"));
  EXPECT_THAT(gridfiles({"revisions", "plan"}).out,
              MatchesRegex("3\t-1\t.*\t3\t\\{ \"\\$oid\".*\n2\t-2\t.*\t6\t\"the newest\"\n.*"
                           "\n0\t-4\t.*\"the old\"\n"));
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesRevisions, Restore_OfTheNewest_ChangesNothing) {
  for (const char* revision : {"2", "-1"}) {
    const Outcome outcome = gridfiles({std::string("--revision=") + revision, "restore", "plan"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.err, EndsWith("of `plan` is the newest already\n"));
  }
  EXPECT_EQ(gridfiles({"list", "plan"}).out, "plan\t3\nplan\t6\nplan\t6\nplanning\t12\n");
}

// The clock of another writer may be ahead.
TEST_F(GridfilesRevisions, Restore_IsNewerThanAFileOfTheFuture) {
  const bson::Date far{4'000'000'000'000};
  set_upload_date("the newest", far);
  EXPECT_EQ(gridfiles({"--revision=0", "restore", "plan"}).status, 0);
  EXPECT_EQ(gridfiles({"cat", "plan"}).out, "old");
  EXPECT_THAT(gridfiles({"revisions", "plan"}).out, StartsWith("3\t-1\t2096-10-02T07:06:40.001Z"));
  set_upload_date("the newest", {INT64_MAX});
  const Outcome outcome = gridfiles({"--revision=0", "restore", "plan"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Failed: revision 0 of `plan` cannot become the newest"));
}

TEST_F(GridfilesRevisions, Revision_WhereItDoesNotFit) {
  for (const char* text : {"", "x", "1x", "1.5", "99999999999"}) {
    const Outcome outcome = gridfiles({std::string("--revision=") + text, "cat", "plan"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("--revision takes a whole number")) << text;
  }
  EXPECT_THAT(gridfiles({"--revision=1", "stat", "plan"}).err,
              HasSubstr("`stat` does not take --revision"));
  EXPECT_THAT(gridfiles({"restore", "plan"}).err, HasSubstr("`restore` needs --revision"));
  EXPECT_THAT(gridfiles({"--revision=1", "--recursive", "get", "plan"}).err,
              HasSubstr("Failed: cannot get folders with --revision specified"));
}

}  // namespace
}  // namespace gridmount::tests
