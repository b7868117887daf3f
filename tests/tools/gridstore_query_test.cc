// Goal: gridstore query and aggregate print what a store holds, on a store in a folder, beside its
// owner and over a connection, and refuse a wrong command with one line that says what is wrong and
// where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "command_line/exit_status.h"
#include "engine/bson/json.h"
#include "tests/tools/documents_fixture.h"
#include "tools/gridstore/documents/json_argument.h"

namespace gridmount::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GridstoreQuery : public DocumentsTest {
 protected:
  void SetUp() override {
    DocumentsTest::SetUp();
    create_things({R"({"_id": 1, "a": 0.1, "n": {"$numberLong": "5"}})",
                   R"({"_id": 2, "a": "x y", "n": [1, 2.0]})", R"({"_id": 3, "b": {"c": true}})"});
  }

  // Returns what the command prints on stdout. It must succeed.
  std::string printed(std::vector<std::string> arguments, const std::string& input = "") const {
    const Outcome outcome = gridstore(arguments, input);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
};

TEST_F(GridstoreQuery, WithoutAFilter_PrintsAllDocuments) {
  EXPECT_EQ(printed({"query", "store.gfs", "test.things"}), R"({"_id":1,"a":0.1,"n":5})"
                                                            "\n"
                                                            R"({"_id":2,"a":"x y","n":[1,2.0]})"
                                                            "\n"
                                                            R"({"_id":3,"b":{"c":true}})"
                                                            "\n");
}

TEST_F(GridstoreQuery, Canonical_KeepsEachType) {
  EXPECT_EQ(printed({"query", "store.gfs", "test.things", R"({"_id": 1})", "--canonical"}),
            R"({"_id":{"$numberInt":"1"},"a":{"$numberDouble":"0.1"},"n":{"$numberLong":"5"}})"
            "\n");
}

TEST_F(GridstoreQuery, FilterProjectionSortSkipLimit_AreThoseOfFind) {
  EXPECT_EQ(printed({"query", "store.gfs", "test.things", R"({"_id": {"$lt": 3}})", "--sort",
                     R"({"_id": -1})", "--projection", R"({"a": 1})"}),
            "{\"_id\":2,\"a\":\"x y\"}\n{\"_id\":1,\"a\":0.1}\n");
  EXPECT_EQ(printed({"query", "store.gfs", "test.things", "{}", "--sort", R"({"_id": -1})",
                     "--projection", R"({"_id": 1})", "--skip", "1", "--limit", "1"}),
            "{\"_id\":2}\n");
}

TEST_F(GridstoreQuery, FilterFromAFileOrStdin_IsTheSame) {
  write_file("filter.json", "{\"b.c\":\n true}\n");
  const std::string expected = "{\"_id\":3,\"b\":{\"c\":true}}\n";
  EXPECT_EQ(printed({"query", "store.gfs", "test.things", "@filter.json"}), expected);
  EXPECT_EQ(printed({"query", "store.gfs", "test.things", "-"}, R"({"b.c": true})"), expected);
  expect_refused({"query", "store.gfs", "test.things", "@absent"},
                 "the filter: opening `absent`: ");
}

TEST_F(GridstoreQuery, FilterBeyondItsLimit_IsRefused) {
  write_file("large.json", std::string(tools::kJsonArgumentBytesMax + 1, ' '));
  expect_refused({"query", "store.gfs", "test.things", "@large.json"},
                 "the text is longer than 67108864 bytes");
}

TEST_F(GridstoreQuery, View_IsRead) {
  create("few", R"({"viewOn": "things", "pipeline": [{"$match": {"_id": {"$gt": 2}}}]})");
  EXPECT_EQ(printed({"query", "store.gfs", "test.few"}), "{\"_id\":3,\"b\":{\"c\":true}}\n");
}

TEST_F(GridstoreQuery, StoreInUse_IsReadBesideItsOwnerAndOverAConnection) {
  while_served([&](const std::string& uri) {
    for (const std::string& store : {std::string("store.gfs"), uri}) {
      EXPECT_EQ(printed({"query", store, "test.things", R"({"_id": 3})"}),
                "{\"_id\":3,\"b\":{\"c\":true}}\n");
      EXPECT_EQ(printed({"aggregate", store, "test.things", R"([{"$count": "n"}])"}),
                "{\"n\":3}\n");
      EXPECT_EQ(printed({"aggregate", store, "test", R"([{"$documents": [{"a": 1}]}])"}),
                "{\"a\":1}\n");
      expect_refused({"query", store, "test.absent"}, "there is no collection `test.absent` in ");
    }
  });
}

TEST_F(GridstoreQuery, WhatIsWrong_IsRefusedInOneLine) {
  const std::vector<std::string> query = {"query", "store.gfs", "test.things"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), query.begin(), query.end());
    return more;
  };
  expect_refused(with({"{a: 1}"}), "the filter: invalid JSON at byte 1: ");
  expect_refused(with({R"({"a": 1)"}), "the filter: invalid JSON at byte 7: ");
  expect_refused(with({R"({"a": {"$foo": 1}})"}), "`test.things`: unknown operator: $foo");
  expect_refused(with({"--sort", "x"}), "the sort: invalid JSON at byte 0: ");
  expect_refused(with({"--projection", "[]"}), "the projection: invalid JSON at byte 0: ");
  expect_refused(with({"--limit", "-1"}), "--limit");
  expect_refused({"query", "store.gfs", "test"}, "`test` names no collection: write DB.COLLECTION");
  expect_refused({"query", "store.gfs", "te$t.a"}, "te$t");
  expect_refused({"query", "store.gfs", "test.absent"},
                 "there is no collection `test.absent` in `store.gfs`");
  expect_refused({"query", "absent.gfs", "test.a"}, "absent.gfs",
                 static_cast<int>(ExitStatus::kStoreNotFound));
  expect_refused({"query", "store.gfs"}, "DB.COLLECTION is required");
}

TEST_F(GridstoreQuery, DamagedDocument_IsReportedAndLeftOut) {
  std::string data = read_file("store.gfs/data.mdb");
  const std::string record(
      "\x02"
      "a\0\x04\0\0\0x y",
      10);
  ASSERT_NE(data.find(record), std::string::npos);
  for (size_t at = 0; (at = data.find(record, at)) != std::string::npos;) data[at + 7] = 'X';
  write_file("store.gfs/data.mdb", data);
  const Outcome outcome = gridstore({"query", "store.gfs", "test.things"});
  EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kStoreDamaged));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"_id\":1,"), HasSubstr("\"_id\":3,"),
                                 Not(HasSubstr("\"_id\":2,"))));
  EXPECT_THAT(outcome.err, HasSubstr("test.things"));
  // A sum without the document would be wrong.
  const Outcome sum = gridstore({"aggregate", "store.gfs", "test.things",
                                 R"([{"$group": {"_id": "$a", "n": {"$sum": 1}}}])"});
  EXPECT_EQ(sum.status, static_cast<int>(ExitStatus::kStoreDamaged));
  EXPECT_EQ(sum.out, "");
}

TEST_F(GridstoreQuery, StdoutThatIsFull_IsReported) {
  const Outcome outcome = shell("$G query store.gfs test.things > /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "gridstore: stdout could not be written; lines are missing from it\n");
}

TEST_F(GridstoreQuery, Aggregate_RunsThePipeline) {
  const std::string pipeline =
      R"([{"$match": {"_id": {"$lt": 3}}}, {"$group": {"_id": null, "n": {"$sum": "$_id"}}}])";
  EXPECT_EQ(printed({"aggregate", "store.gfs", "test.things", pipeline}),
            "{\"_id\":null,\"n\":3}\n");
  EXPECT_EQ(printed({"aggregate", "store.gfs", "test.things", "-", "--canonical"}, pipeline),
            "{\"_id\":null,\"n\":{\"$numberInt\":\"3\"}}\n");
  write_file("pipeline.json", "[]");
  EXPECT_EQ(printed({"aggregate", "store.gfs", "test.things", "@pipeline.json"}),
            printed({"query", "store.gfs", "test.things"}));
}

TEST_F(GridstoreQuery, AggregateOfWhatIsWrong_IsRefusedInOneLine) {
  const auto refused = [&](const std::string& pipeline, std::string_view part) {
    expect_refused({"aggregate", "store.gfs", "test.things", pipeline}, part);
  };
  refused(R"([{"$match": {}}, {"$out": "other"}])",
          "$out writes, and gridstore aggregate only reads");
  refused(R"([{"$merge": {"into": "other"}}])",
          "$merge writes, and gridstore aggregate only reads");
  refused("{}", "the pipeline: invalid JSON at byte 0: an array was expected here");
  refused(R"([{"$match": {}})", "the pipeline: invalid JSON at byte 15: a comma or ']' is missing");
  refused("[1]", "");
  refused(R"([{"$foo": 1}])", "$foo");
  expect_refused({"aggregate", "store.gfs", "test.absent", "[]"},
                 "there is no collection `test.absent`");
  expect_refused({"aggregate", "store.gfs", "test.things"}, "PIPELINE is required");
}

class GridstoreQueryOfRichStore : public DocumentsTest {};

TEST_F(GridstoreQueryOfRichStore, AllTypes_ReadBackAsTheyWere) {
  create_rich_store();
  std::vector<std::string> read;
  std::istringstream lines(gridstore({"query", "store.gfs", "test.types", "--canonical"}).out);
  for (std::string line; std::getline(lines, line);) {
    read.push_back(bson::to_json(parsed(line), bson::JsonForm::kRelaxed));
  }
  EXPECT_FALSE(read.empty());
  EXPECT_EQ(read, documents_of("store.gfs", "types"));
}

}  // namespace
}  // namespace gridmount::tests
