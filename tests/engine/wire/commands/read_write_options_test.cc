// Goal: write concerns, variables and reads of views behave like a server's.
// Method: a service over an embedded store, commands as Extended JSON. The expected answers are
// mongod's.
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReadAndWriteOptions : public ServiceTest {};

TEST_F(ReadAndWriteOptions, Writes_WithoutAcknowledgement_TellNothing) {
  insert_numbered("c", 2);
  const auto unacknowledged = [&](const std::string& command) {
    return good("{" + command + R"(, "writeConcern": {"w": 0}})");
  };
  EXPECT_EQ(unacknowledged(R"("update": "c", "updates": [{"q": {"_id": 0}, "u": {"$set": {"a": 1}}},
                              {"q": {"_id": 9}, "u": {"b": 1}, "upsert": true},
                              {"q": {"_id": 0}, "u": {"$inc": {"a": "x"}}}])"),
            R"({ "n" : 0, "nModified" : 0 })");
  EXPECT_EQ(unacknowledged(R"("insert": "c", "documents": [{"_id": 7}, {"_id": 7}])"),
            R"({ "n" : 0 })");
  EXPECT_EQ(unacknowledged(R"("delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}])"),
            R"({ "n" : 0 })");
  EXPECT_THAT(find("c", "{}"), ElementsAre(R"({ "_id" : 0, "a" : 1 })", R"({ "_id" : 9, "b" : 1 })",
                                           R"({ "_id" : 7 })"));
}

// A client that waits for the journal waits for the result too.
TEST_F(ReadAndWriteOptions, Writes_WithJournalAlone_AreAcknowledged) {
  for (const char* const concern :
       {R"({"w": 0, "j": true})", R"({"w": 0, "j": 1})", R"({"w": 0, "fsync": true})"}) {
    const auto acknowledged = [&](const std::string& command) {
      return good("{" + command + R"(, "writeConcern": )" + concern + "}");
    };
    EXPECT_EQ(acknowledged(R"("insert": "c", "documents": [{"_id": 1}])"), R"({ "n" : 1 })");
    EXPECT_THAT(acknowledged(R"("insert": "c", "documents": [{"_id": 1}])"),
                HasSubstr(R"("writeErrors" : [ { "index" : 0, "code" : 11000)"));
    EXPECT_EQ(acknowledged(R"("update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}])"),
              R"({ "n" : 1, "nModified" : 1 })");
    EXPECT_EQ(acknowledged(R"("delete": "c", "deletes": [{"q": {}, "limit": 0}])"),
              R"({ "n" : 1 })");
  }
  EXPECT_EQ(good(R"({"insert": "c", "documents": [{}], "writeConcern": {"w": 0, "j": false}})"),
            R"({ "n" : 0 })");
}

TEST_F(ReadAndWriteOptions, SystemVersion_HasTheFeatureCompatibilityVersion) {
  const std::string version = R"({ "_id" : "featureCompatibilityVersion", "version" : "7.0" })";
  const auto documents = [&](const char* command) { return batch(run(command, "admin")); };
  EXPECT_THAT(documents(R"({"find": "system.version"})"), ElementsAre(version));
  EXPECT_THAT(documents(R"({"aggregate": "system.version", "cursor": {}, "pipeline": []})"),
              ElementsAre(version));
  EXPECT_EQ(good(R"({"count": "system.version"})", "admin", "n"), "1");
  EXPECT_THAT(find("system.version", "{}"), testing::IsEmpty());  // in the database test
}

TEST_F(ReadAndWriteOptions, SystemVersion_CannotBeSpoilt) {
  const std::string version = R"({ "_id" : "featureCompatibilityVersion", "version" : "7.0" })";
  const auto left = [&] {
    return batch(run(R"({"find": "system.version", "sort": {"_id": -1}})", "admin"));
  };
  good(R"({"insert": "system.version", "documents": [{"_id": "a"}, {"_id": "b"}]})", "admin");
  const auto write_error = [&](const std::string& command) {
    return good("{" + command + R"(, "ordered": false})", "admin", "writeErrors.0.code");
  };
  EXPECT_EQ(good(R"({"delete": "system.version", "ordered": false, "deletes": [
                     {"q": {"_id": "a"}, "limit": 1}, {"q": {}, "limit": 0},
                     {"q": {"_id": "featureCompatibilityVersion"}, "limit": 1},
                     {"q": {"_id": "b"}, "limit": 1}]})",
                 "admin", "n"),
            "2");
  EXPECT_THAT(left(), ElementsAre(version));
  EXPECT_EQ(write_error(R"("delete": "system.version", "deletes": [{"q": {}, "limit": 0}])"),
            "40670");
  struct Change {
    const char* update;
    const char* code;
  };
  for (const Change& change :
       {Change{R"({"$set": {"version": "3.0"}})", "4926900"},
        Change{R"({"version": "1"})", "4926900"}, Change{R"({"$set": {"version": 9}})", "14"},
        Change{R"({"$set": {"x": 1}})", "40415"},
        Change{R"({"$unset": {"version": 1}})", "40414"}}) {
    EXPECT_EQ(write_error(R"("update": "system.version", "updates": [{"q": {}, "u": )" +
                          std::string(change.update) + "}]"),
              change.code);
    EXPECT_EQ(std::to_string(code_of(R"({"findAndModify": "system.version", "update": )" +
                                         std::string(change.update) + "}",
                                     "admin")),
              change.code);
  }
  EXPECT_EQ(code_of(R"({"findAndModify": "system.version", "remove": true})", "admin"), 40670);
  good(R"({"update": "system.version", "updates": [{"q": {}, "u": {"$set": {"version": "7.0"}}}]})",
       "admin");
  EXPECT_EQ(code_of(R"({"convertToCapped": "system.version", "size": 10000})", "admin"), 2);
  EXPECT_THAT(left(), ElementsAre(version));
}

// Each filter alone is within its own limit.
TEST_F(ReadAndWriteOptions, Filters_OfAllCommands_HaveALimitTogether) {
  restart({.filter_bytes_max = uint64_t{5} << 20});
  insert_numbered("c", 2000);
  const auto find_among = [](int32_t values) {
    bson::Builder command;
    command.append("find", "c").append("batchSize", int32_t{1});
    command.open_document("filter").open_document("a").open_array("$nin");
    for (int32_t i = 0; i < values; ++i)
      command.push(bson::Value("value" + std::to_string(i)).view());
    command.close().close().close();
    return std::move(command).finish();
  };
  // Small filters do not count.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(field(run(find_among(100)), "ok"), "1.0");
  // The open cursors keep their filters.
  std::vector<std::string> cursors;
  bson::Document reply;
  while (cursors.size() < 20) {
    reply = run(find_among(40'000));
    if (field(reply, "ok") != "1.0") break;
    cursors.push_back(field(reply, "cursor.id"));
  }
  EXPECT_EQ(field(reply, "code"), "146");
  EXPECT_THAT(field(reply, "errmsg"), HasSubstr("the filters of all commands"));
  ASSERT_THAT(cursors, testing::SizeIs(testing::AllOf(testing::Ge(1U), testing::Le(5U))));
  good(R"({"killCursors": "c", "cursors": [)" + cursors[0] + "]}");
  EXPECT_EQ(field(run(find_among(40'000)), "ok"), "1.0");
}

TEST_F(ReadAndWriteOptions, WriteConcern_Tags_AreNumbers) {
  const auto insert = [](const std::string& w) {
    return R"({"insert": "c", "documents": [{}], "writeConcern": {"w": )" + w + "}}";
  };
  good(insert(R"({"dc": 1, "rack": 2.5})"));
  EXPECT_EQ(bad(insert("{}")), "9: tagged write concern requires tags");
  EXPECT_THAT(bad(insert(R"({"dc": "x"})")), HasSubstr("with only number values; found: dc"));
  EXPECT_EQ(code_of(insert("[1]")), 9);
  EXPECT_EQ(code_of(insert("null")), 2);
}

TEST_F(ReadAndWriteOptions, Let_VariablesWithoutAValue_AreMissing) {
  insert_numbered("c", 1);
  EXPECT_THAT(batch(run(R"({"aggregate": "c", "cursor": {}, "let": {"v": "$$REMOVE", "w": "$$v"},
                            "pipeline": [{"$project": {"x": "$$v", "y": {"$type": "$$w"}}}]})")),
              ElementsAre(R"({ "_id" : 0, "y" : "missing" })"));
  EXPECT_THAT(batch(run(R"({"find": "c", "let": {"v": "$$REMOVE"}, "projection": {"x": "$$v"},
                            "filter": {"$expr": {"$eq": ["$$v", "$none"]}}})")),
              ElementsAre(R"({ "_id" : 0 })"));
  good(R"({"update": "c", "let": {"v": "$$REMOVE"},
           "updates": [{"q": {"_id": 0}, "u": [{"$set": {"a": 1}}, {"$set": {"a": "$$v"}}]}]})");
  EXPECT_THAT(find("c", "{}"), ElementsAre(R"({ "_id" : 0 })"));
}

TEST_F(ReadAndWriteOptions, Find_InAView_ProjectsAsAStage) {
  good(R"({"insert": "c", "documents": [{"_id": 1, "a": [1, 2, 3]}]})");
  good(R"({"create": "v", "viewOn": "c", "pipeline": []})");
  const auto find_in_view = [](const std::string& projection, const std::string& filter = "{}") {
    return R"({"find": "v", "filter": )" + filter + R"(, "projection": )" + projection + "}";
  };
  EXPECT_EQ(code_of(find_in_view(R"({"a": {"$slice": 1}})")), 28667);
  EXPECT_EQ(code_of(find_in_view(R"({"a": {"$elemMatch": {"$gt": 1}}})")), 168);
  EXPECT_EQ(code_of(find_in_view(R"({"a.$": 1})", R"({"a": 2})")), 31324);
  EXPECT_EQ(code_of(find_in_view(R"({"a.$": 1})", R"({"$expr": true})")), 224);
  EXPECT_EQ(code_of(find_in_view(R"({"a.$": 0})")), 31395);
  EXPECT_THAT(batch(run(find_in_view(R"({"_id": 0, "b": {"$slice": ["$a", 1]}})"))),
              ElementsAre(R"({ "b" : [ 1 ] })"));
}

}  // namespace
}  // namespace gridmount::wire
