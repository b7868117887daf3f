// Goal: gridstore import brings back what export has written, reports each line that cannot be
// imported, and imports the other lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line/exit_status.h"
#include "tests/tools/documents_fixture.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GridstoreImport : public DocumentsTest {
 protected:
  void SetUp() override {
    DocumentsTest::SetUp();
    create_things({R"({"_id": 1, "a": 1})"});
  }

  // Runs gridstore import on `store` and test.things.
  Outcome import_into(const std::string& store, std::vector<std::string> arguments,
                      const std::string& input) const {
    arguments.insert(arguments.begin(), {"import", store, "test.things"});
    return gridstore(arguments, input);
  }
  Outcome import(std::vector<std::string> arguments, const std::string& input) const {
    return import_into("store.gfs", std::move(arguments), input);
  }
  // Returns what `query` prints of test.things, in the order of _id.
  std::string things(const std::string& store = "store.gfs") const {
    return gridstore({"query", store, "test.things", "--sort", R"({"_id": 1})"}).out;
  }
};

TEST_F(GridstoreImport, Json_IsInserted) {
  const Outcome outcome = import({}, "{\"_id\": 2, \"b\": {\"$numberLong\": \"5\"}}\n{\"_id\": 3}");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "gridstore: imported 2 documents into test.things; 0 failures\n");
  EXPECT_EQ(things(), "{\"_id\":1,\"a\":1}\n{\"_id\":2,\"b\":5}\n{\"_id\":3}\n");
  EXPECT_EQ(import({"--quiet", "--json-array"}, "[{}, {}]").err, "");
  EXPECT_THAT(gridstore({"aggregate", "store.gfs", "test.things",
                         R"([{"$match": {"_id": {"$type": "objectId"}}}, {"$count": "n"}])"})
                  .out,
              "{\"n\":2}\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreImport, LineThatIsWrongOrRefused_IsReportedAndLeftOut) {
  write_file("in.json", "{\"_id\": 2}\n{\"_id\" 3}\n{\"_id\": 1}\n{\"_id\": [4]}\n{\"_id\": 5}\n");
  const Outcome outcome = import({"--file", "in.json"}, "");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("gridstore: `in.json`, line 2: invalid JSON at byte 7: a colon is missing\n"));
  EXPECT_THAT(outcome.err, HasSubstr("gridstore: `in.json`, line 3: E11000 duplicate key"));
  EXPECT_THAT(outcome.err, HasSubstr("gridstore: `in.json`, line 4: "));
  EXPECT_THAT(outcome.err,
              HasSubstr("gridstore: imported 2 documents into test.things; 3 failures\n"));
  EXPECT_EQ(things(), "{\"_id\":1,\"a\":1}\n{\"_id\":2}\n{\"_id\":5}\n");
}

TEST_F(GridstoreImport, StopOnError_KeepsWhatWasBefore) {
  const Outcome refused = import({"--stop-on-error"}, "{\"_id\": 2}\n{\"_id\": 1}\n{\"_id\": 3}\n");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("standard input, line 2: E11000"));
  EXPECT_THAT(refused.err, HasSubstr("imported 1 document into test.things; 1 failure\n"));
  EXPECT_THAT(refused.err, HasSubstr("the import is not complete"));
  EXPECT_EQ(import({"--stop-on-error"}, "{\"_id\": 4}\nx\n{\"_id\": 5}\n").status, 1);
  EXPECT_EQ(things(), "{\"_id\":1,\"a\":1}\n{\"_id\":2}\n{\"_id\":4}\n");
}

TEST_F(GridstoreImport, Upsert_ReplacesDocumentsOfTheSameId) {
  EXPECT_EQ(import({"--mode", "upsert"}, "{\"_id\": 1, \"b\": 2}\n{\"_id\": {\"x\": 1}}").status,
            0);
  EXPECT_EQ(things(), "{\"_id\":1,\"b\":2}\n{\"_id\":{\"x\":1}}\n");
}

TEST_F(GridstoreImport, Drop_RemovesWhatWasThere) {
  EXPECT_EQ(import({"--drop"}, "{\"_id\": 2}").status, 0);
  EXPECT_EQ(things(), "{\"_id\":2}\n");
}

TEST_F(GridstoreImport, Csv_IsInserted) {
  EXPECT_EQ(import({"--type", "csv", "--headerline"}, "_id,a.b,t\n2,1.5,\"x, y\"\n3\n").status, 0);
  EXPECT_EQ(import({"--type", "csv", "--fields", "_id,t", "--ignore-blanks"}, "4,\n").status, 0);
  EXPECT_EQ(things(),
            "{\"_id\":1,\"a\":1}\n{\"_id\":2,\"a\":{\"b\":1.5},\"t\":\"x, y\"}\n{\"_id\":3}\n"
            "{\"_id\":4}\n");
}

TEST_F(GridstoreImport, ManyDocuments_AreWrittenInSeveralBatches) {
  std::string input;
  for (int i = 0; i < 25'000; ++i) input += "{\"_id\": " + std::to_string(i) + "}\n";
  const Outcome outcome = import({}, input);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("standard input, line 2: E11000"));
  EXPECT_THAT(outcome.err, HasSubstr("imported 24999 documents into test.things; 1 failure"));
}

TEST_F(GridstoreImport, ManyFailures_AreCounted) {
  std::string input;
  for (int i = 0; i < 25; ++i) input += "x\n";
  const Outcome outcome = import({}, input);
  EXPECT_THAT(outcome.err, HasSubstr("line 10: "));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("line 11: ")));
  EXPECT_THAT(outcome.err, HasSubstr("gridstore: 15 more failures\n"));
}

TEST_F(GridstoreImport, DocumentThatIsTooLarge_IsRefusedWithItsLine) {
  const std::string text(16 * 1024 * 1024, 'x');
  const Outcome outcome = import({}, "{\"_id\": 2}\n{\"_id\": 3, \"t\": \"" + text + "\"}\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("standard input, line 2: "));
  EXPECT_EQ(things(), "{\"_id\":1,\"a\":1}\n{\"_id\":2}\n");
}

TEST_F(GridstoreImport, OverAConnection_WorksAndAStoreInUseIsRefused) {
  while_served([&](const std::string& uri) {
    const Outcome outcome = import_into(uri, {}, "{\"_id\": 2}\n{\"_id\": 1}\n{\"_id\": 3}\n");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("standard input, line 2: E11000"));
    EXPECT_EQ(things(uri), "{\"_id\":1,\"a\":1}\n{\"_id\":2}\n{\"_id\":3}\n");
    EXPECT_EQ(import_into(uri, {"--mode", "upsert"}, "{\"_id\": 2, \"b\": 1}").status, 0);
    EXPECT_EQ(import_into(uri, {"--drop"}, "{\"_id\": 9}").status, 0);
    EXPECT_EQ(things(uri), "{\"_id\":9}\n");
    expect_refused({"import", "store.gfs", "test.things"}, "or import into mongodb://",
                   static_cast<int>(ExitStatus::kStoreLocked), "{}");
  });
}

TEST_F(GridstoreImport, WhatIsWrong_IsRefusedBeforeAnythingIsChanged) {
  const auto refused = [&](std::vector<std::string> arguments, std::string_view part,
                           int status = 1, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"import", "store.gfs"});
    arguments.emplace_back("--drop");
    expect_refused(arguments, part, status, input);
    EXPECT_EQ(things(), "{\"_id\":1,\"a\":1}\n");
    EXPECT_THAT(names(), IsEmpty());
  };
  refused({"test.things", "--type", "csv"}, "--type csv needs --headerline");
  refused({"test.things", "--type", "csv", "--headerline", "--fields", "a"},
          "--headerline does not");
  refused({"test.things", "--headerline"}, "--headerline is for --type csv");
  refused({"test.things", "--type", "csv", "--headerline"},
          "standard input, line 1: there is no header");
  refused({"test.things", "--type", "csv", "--fields", "a,a"}, "column 2, `a`: ");
  refused({"test.things", "--file", "absent"}, "opening `absent`: ");
  refused({"test.things", "--mode", "merge"}, "merge");
  refused({"test"}, "`test` names no collection");
  refused({"admin.system.users"}, "cannot import into admin.system.users");
  refused({"test.system.profile"}, "system.profile");
  expect_refused({"import", "absent.gfs", "test.things"}, "'gridstore import --create' makes one",
                 static_cast<int>(ExitStatus::kStoreNotFound));
}

TEST_F(GridstoreImport, Create_MakesTheStore) {
  EXPECT_EQ(import_into("new.gfs", {"--create"}, "{\"_id\": 7}").status, 0);
  EXPECT_EQ(things("new.gfs"), "{\"_id\":7}\n");
}

class GridstoreImportOfRichStore : public DocumentsTest {};

TEST_F(GridstoreImportOfRichStore, CanonicalExport_ComesBack) {
  create_rich_store();
  for (const bool is_array : {false, true}) {
    std::vector<std::string> more;
    if (is_array) more.emplace_back("--json-array");
    std::vector<std::string> out = {"export", "store.gfs", "test.types", "--canonical", "--quiet"};
    out.insert(out.end(), more.begin(), more.end());
    std::vector<std::string> in = {"import", "copy.gfs", "test.types", "--create", "--drop"};
    in.insert(in.end(), more.begin(), more.end());
    const Outcome exported = gridstore(out);
    EXPECT_EQ(exported.err, "");
    const Outcome imported = gridstore(in, exported.out);
    EXPECT_EQ(imported.status, 0) << imported.err;
    EXPECT_EQ(documents_of("copy.gfs", "types"), documents_of("store.gfs", "types"));
    out[1] = "copy.gfs";
    EXPECT_EQ(gridstore(out).out, exported.out);
  }
}

}  // namespace
}  // namespace gridmount::tests
