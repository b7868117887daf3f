// Goal: find, insert, update, delete, findAndModify, count, distinct and aggregate answer like a
// server.
// Method: a service over an embedded store, commands as Extended JSON.
// Source: MongoDB 7.0 manual, "Database Commands"; observed messages of mongod.
#include "tests/engine/wire/commands/service_test.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Crud : public ServiceTest {};

TEST_F(Crud, Insert_Documents_AreFound) {
  EXPECT_EQ(good(R"({"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2}]})"),
            R"({ "n" : 2 })");
  EXPECT_THAT(find("c"), ElementsAre(R"({ "_id" : 1, "a" : 1 })", R"({ "_id" : 2 })"));
  EXPECT_THAT(find("c", R"({"a": 1})"), SizeIs(1));
  EXPECT_THAT(find("none"), IsEmpty());
}

TEST_F(Crud, Insert_Sequence_IsAsAnArray) {
  const bson::Document first = doc(R"({"_id": 1})");
  const bson::Document second = doc(R"({"_id": 2})");
  const Outcome outcome = handle(client(), doc(R"({"insert": "c", "$db": "test"})"), "test",
                                 {{"documents", {first, second}}});
  EXPECT_EQ(field(std::get<bson::Document>(outcome), "n"), "2");
  EXPECT_THAT(find("c"), SizeIs(2));
  const Outcome both = handle(client(), doc(R"({"insert": "c", "documents": []})"), "test",
                              {{"documents", {first}}});
  EXPECT_EQ(field(std::get<bson::Document>(both), "code"), "40413");
  const Outcome unknown =
      handle(client(), doc(R"({"insert": "c", "documents": [{}]})"), "test", {{"more", {first}}});
  EXPECT_EQ(field(std::get<bson::Document>(unknown), "code"), "40415");
}

TEST_F(Crud, Insert_DuplicateKeys_OrderedStopsUnorderedGoesOn) {
  const bson::Document ordered =
      run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 1}, {"_id": 2}]})");
  EXPECT_EQ(field(ordered, "ok"), "1.0");
  EXPECT_EQ(field(ordered, "n"), "1");
  EXPECT_EQ(field(ordered, "writeErrors.0.index"), "1");
  EXPECT_EQ(field(ordered, "writeErrors.0.code"), "11000");
  EXPECT_EQ(field(ordered, "writeErrors.0.keyPattern"), R"({ "_id" : 1 })");
  EXPECT_EQ(field(ordered, "writeErrors.0.keyValue"), R"({ "_id" : 1 })");
  EXPECT_THAT(field(ordered, "writeErrors.0.errmsg"),
              HasSubstr("E11000 duplicate key error collection: test.c index: _id_ dup key"));
  const bson::Document unordered = run(
      R"({"insert": "c", "ordered": false, "documents": [{"_id": 1}, {"_id": 2}, {"_id": 1}]})");
  EXPECT_EQ(field(unordered, "n"), "1");
  EXPECT_EQ(field(unordered, "writeErrors.1.index"), "2");
  EXPECT_THAT(find("c"), SizeIs(2));
}

TEST_F(Crud, Insert_ValidationFailure_TellsWhy) {
  good(R"({"create": "v", "validator": {"a": {"$gt": 0}}})");
  const bson::Document failed = run(R"({"insert": "v", "documents": [{"_id": 7, "a": 0}]})");
  EXPECT_EQ(field(failed, "writeErrors.0.code"), "121");
  EXPECT_EQ(field(failed, "writeErrors.0.errmsg"), R"("Document failed validation")");
  EXPECT_EQ(field(failed, "writeErrors.0.errInfo.failingDocumentId"), "7");
  good(R"({"insert": "v", "documents": [{"_id": 7, "a": 0}], "bypassDocumentValidation": true})");
  EXPECT_THAT(find("v"), SizeIs(1));
}

TEST_F(Crud, Writes_BatchSizes_AreLimited) {
  EXPECT_EQ(bad(R"({"insert": "c", "documents": []})"),
            "16: Write batch sizes must be between 1 and 100000. Got 0 operations.");
  std::string statements = "[";
  for (int i = 0; i < 100'001; ++i) statements += i == 0 ? "{}" : ",{}";
  statements += "]";
  for (const char* const command :
       {R"({"insert": "c", "documents": )", R"({"update": "c", "updates": )",
        R"({"delete": "c", "deletes": )"}) {
    EXPECT_THAT(bad(command + statements + "}"), StartsWith("16: ")) << command;
  }
}

TEST_F(Crud, Insert_HundredThousandDocuments_AreOneCommand) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  std::string documents = "[";
  for (int i = 0; i < 100'000; ++i) documents += i == 0 ? "{}" : ",{}";
  EXPECT_EQ(good(R"({"insert": "c", "documents": )" + documents + "]}"), R"({ "n" : 100000 })");
  EXPECT_EQ(good(R"({"count": "c"})"), R"({ "n" : 100000 })");
}

TEST_F(Crud, Insert_OddFields_AreStored) {
  const char* const documents[] = {
      R"({ "_id" : 1, "r" : { "$ref" : "c", "$id" : 2, "$db" : "d" } })",
      R"({ "_id" : 2, "d" : { "$numberDecimal" : "1.10" } })", R"({ "_id" : 3, "a.b" : 1 })",
      R"({ "_id" : 4, "n" : { "$numberLong" : "9223372036854775807" } })",
      R"({ "_id" : 5, "x" : { "$maxKey" : 1 }, "": null })"};
  for (const char* const document : documents) insert("c", "[" + std::string(document) + "]");
  EXPECT_THAT(find("c"), SizeIs(5));
  EXPECT_EQ(good(R"({"insert": "c", "documents": [{"_id": 6, "$set": 1}]})"), R"({ "n" : 1 })");
  EXPECT_EQ(
      field(run(R"({"insert": "c", "documents": [{"_id": {"$set": 1}}]})"), "writeErrors.0.code"),
      "52");
}

TEST_F(Crud, WriteErrors_OfAnUpdate_StandBeforeItsCounts) {
  insert_numbered("c", 1);
  EXPECT_EQ(good(R"({"update": "c", "ordered": false, "updates": [
                {"q": {}, "u": {"$set": {"_id": 7}}},
                {"q": {"_id": 9}, "u": {}, "upsert": true}]})"),
            R"({ "n" : 1, "writeErrors" : [ { "index" : 0, "code" : 66, "errmsg" : "Performing an )"
            R"(update on the path '_id' would modify the immutable field '_id'" } ], "upserted" : )"
            R"([ { "index" : 1, "_id" : 9 } ], "nModified" : 0 })");
}

TEST_F(Crud, Statements_ThatAreNull_AreLeftOut) {
  EXPECT_EQ(good(R"({"insert": "c", "documents": [null, {"_id": 1}]})"), R"({ "n" : 1 })");
  EXPECT_EQ(code_of(R"({"delete": "c", "deletes": [null]})"), 16);
  EXPECT_EQ(code_of(R"({"count": "c", "limit": null})"), 2);
  EXPECT_EQ(code_of(R"({"insert": "c", "documents": [{}], "ordered": 1})"), 14);
}

TEST_F(Crud, Update_Statements_CountAndUpsert) {
  insert_numbered("c", 3);
  EXPECT_EQ(good(R"({"update": "c", "updates": [
                {"q": {"_id": 0}, "u": {"$set": {"a": 1}}},
                {"q": {}, "u": {"$set": {"a": 1}}, "multi": true},
                {"q": {"_id": 9}, "u": {"b": 1}, "upsert": true},
                {"q": {"_id": 10}, "u": {"b": 1}}]})"),
            R"({ "n" : 5, "upserted" : [ { "index" : 2, "_id" : 9 } ], "nModified" : 3 })");
  EXPECT_EQ(good(R"({"update": "c", "updates": [{"q": {"_id": 0},
                "u": [{"$set": {"s": "$$x"}}], "c": {"x": 5}}]})"),
            R"({ "n" : 1, "nModified" : 1 })");
  EXPECT_THAT(find("c", R"({"_id": 0})"), ElementsAre(R"({ "_id" : 0, "a" : 1, "s" : 5 })"));
  EXPECT_EQ(good(R"({"update": "c", "let": {"y": 6}, "updates": [
                {"q": {"$expr": {"$eq": ["$a", 1]}}, "u": [{"$set": {"s": "$$y"}}]}]})"),
            R"({ "n" : 1, "nModified" : 1 })");
  good(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"l": [1, 2, 3]}}}]})");
  good(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"l.$[e]": 0}},
            "arrayFilters": [{"e": {"$gt": 1}}]}]})");
  EXPECT_THAT(find("c", R"({"_id": 1})"),
              ElementsAre(R"({ "_id" : 1, "a" : 1, "l" : [ 1, 0, 0 ] })"));
}

TEST_F(Crud, Update_BadStatements_AreRefused) {
  insert_numbered("c", 1);
  const auto update = [](std::string_view statement) {
    return R"({"update": "c", "updates": [)" + std::string(statement) + "]}";
  };
  EXPECT_EQ(bad(update(R"({"q": {}, "u": 5})")),
            "9: Update argument must be either an object or an array");
  EXPECT_EQ(bad(update(R"({"q": {}})")),
            "40414: BSON field 'update.updates.u' is missing but a required field");
  EXPECT_EQ(bad(update(R"({"q": {}, "u": {}, "x": 1})")),
            "40415: BSON field 'update.updates.x' is an unknown field.");
  EXPECT_EQ(bad(update(R"({"q": {}, "u": {}, "multi": 1})")),
            "14: BSON field 'update.updates.multi' is the wrong type 'int', expected type 'bool'");
  EXPECT_EQ(field(run(update(R"({"q": {}, "u": {}, "collation": {"locale": "xx"}})")),
                  "writeErrors.0.code"),
            "2");
  good(update(R"({"q": {}, "u": {}, "collation": {"locale": "de"}})"));
  good(update(R"({"q": {}, "u": {}, "collation": {"locale": "simple"}})"));
  const bson::Document unknown = run(update(R"({"q": {}, "u": {"$foo": 1}})"));
  EXPECT_EQ(field(unknown, "writeErrors.0.code"), "9");
  EXPECT_EQ(field(run(update(R"({"q": {}, "u": {"a": 1}, "multi": true})")), "writeErrors.0.code"),
            "9");
}

// Servers check the stages of all pipelines before they run any statement.
TEST_F(Crud, Update_UnknownStage_FailsTheCommand) {
  const auto update = [](std::string_view pipeline) {
    return R"({"update": "c", "updates": [{"q": {"x": 1}, "u": )" + std::string(pipeline) + "}]}";
  };
  EXPECT_EQ(bad(update(R"([{"$nosuch": true}])")),
            "40324: Unrecognized pipeline stage name: '$nosuch'");
  EXPECT_EQ(code_of(update(R"([{"$set": {"a": 1}, "$unset": "b"}])")), 40323);
  EXPECT_EQ(field(run(update(R"([{"$match": {}}])")), "writeErrors.0.code"), "72");
}

TEST_F(Crud, ApiStrict_RefusesWhatIsNotInTheVersion) {
  insert_numbered("c", 1);
  const auto strict = [](std::string_view command) {
    return "{" + std::string(command) + R"(, "apiVersion": "1", "apiStrict": true})";
  };
  EXPECT_EQ(
      bad(strict(R"("aggregate": 1, "cursor": {}, "pipeline": [{"$listLocalSessions": {}}])")),
      "323: $listLocalSessions is not allowed with 'apiStrict: true' in API Version 1");
  EXPECT_EQ(code_of(strict(R"("aggregate": "c", "cursor": {}, "pipeline": [
                {"$facet": {"a": [{"$indexStats": {}}]}}])")),
            323);
  EXPECT_EQ(code_of(strict(R"("aggregate": "c", "cursor": {}, "pipeline": [
                {"$collStats": {"storageStats": {}}}])")),
            323);
  good(strict(R"("aggregate": "c", "cursor": {}, "pipeline": [{"$collStats": {"count": {}}}])"));
  EXPECT_EQ(bad(strict(R"("find": "c", "tailable": true)")),
            "323: BSON field 'find.tailable' is not allowed with apiStrict:true.");
  good(strict(R"("find": "c", "filter": {})"));
}

TEST_F(Crud, Aggregate_ChangeStream_NeedsAReplicaSet) {
  for (const char* const target : {R"("c")", "1"}) {
    EXPECT_EQ(bad(R"({"aggregate": )" + std::string(target) +
                  R"(, "cursor": {}, "pipeline": [{"$changeStream": {}}]})"),
              "40573: The $changeStream stage is only supported on replica sets");
  }
}

TEST_F(Crud, Delete_Statements_RemoveOneOrAll) {
  insert_numbered("c", 5);
  EXPECT_EQ(good(R"({"delete": "c", "deletes": [{"q": {}, "limit": 1},
                {"q": {"_id": {"$gte": 3}}, "limit": 0}]})"),
            R"({ "n" : 3 })");
  EXPECT_THAT(find("c"), SizeIs(2));
  EXPECT_EQ(bad(R"({"delete": "c", "deletes": [{"q": {}, "limit": 2}]})"),
            "9: The limit field in delete objects must be 0 or 1. Got 2");
  for (const char* const limit : {"0.5", "1.5", R"({"$numberDouble": "NaN"})"}) {
    EXPECT_EQ(
        code_of(R"({"delete": "c", "deletes": [{"q": {}, "limit": )" + std::string(limit) + "}]}"),
        9)
        << limit;
  }
  EXPECT_EQ(bad(R"({"delete": "c", "deletes": [{"q": {}}]})"),
            "40414: BSON field 'delete.deletes.limit' is missing but a required field");
}

TEST_F(Crud, FindAndModify_Forms_GiveTheDocument) {
  insert_numbered("c", 2);
  EXPECT_EQ(
      good(R"({"findAndModify": "c", "query": {"_id": 0}, "update": {"$set": {"a": 1}}})"),
      R"({ "lastErrorObject" : { "n" : 1, "updatedExisting" : true }, "value" : { "_id" : 0 } })");
  EXPECT_EQ(good(R"({"findandmodify": "c", "query": {"_id": 0}, "update": {"$inc": {"a": 1}},
                "new": true, "fields": {"_id": 0}})",
                 "test", "value"),
            R"({ "a" : 2 })");
  EXPECT_EQ(
      good(R"({"findAndModify": "c", "query": {"_id": 7}, "update": {"x": 1},
                "upsert": true})"),
      R"({ "lastErrorObject" : { "n" : 1, "updatedExisting" : false, "upserted" : 7 }, "value" : null })");
  EXPECT_EQ(good(R"({"findAndModify": "c", "sort": {"_id": -1}, "remove": true})"),
            R"({ "lastErrorObject" : { "n" : 1 }, "value" : { "_id" : 7, "x" : 1 } })");
  EXPECT_EQ(good(R"({"findAndModify": "c", "query": {"_id": 99}, "remove": true})"),
            R"({ "lastErrorObject" : { "n" : 0 }, "value" : null })");
  EXPECT_EQ(bad(R"({"findAndModify": "c", "query": {}})"),
            "9: Either an update or remove=true must be specified");
  EXPECT_EQ(code_of(R"({"findAndModify": "c", "remove": true, "update": {}})"), 9);
}

TEST_F(Crud, CountAndDistinct_Options_AreKept) {
  insert("c", R"([{"_id": 1, "a": 1}, {"_id": 2, "a": [1, 2]}, {"_id": 3}])");
  EXPECT_EQ(good(R"({"count": "c"})"), R"({ "n" : 3 })");
  EXPECT_EQ(good(R"({"count": "c", "query": {"a": 1}, "limit": -1})"), R"({ "n" : 1 })");
  EXPECT_EQ(good(R"({"count": "c", "skip": 2, "query": null})"), R"({ "n" : 1 })");
  EXPECT_EQ(good(R"({"count": "none"})"), R"({ "n" : 0 })");
  EXPECT_EQ(code_of(R"({"count": "c", "skip": -1})"), 51024);
  EXPECT_EQ(good(R"({"distinct": "c", "key": "a"})"), R"({ "values" : [ 1, 2 ] })");
  EXPECT_EQ(good(R"({"distinct": "c", "key": "a", "query": {"_id": 1}})"),
            R"({ "values" : [ 1 ] })");
  EXPECT_EQ(code_of(R"({"distinct": "c", "key": 1})"), 14);
  EXPECT_EQ(code_of(R"({"distinct": "c"})"), 40414);
}

TEST_F(Crud, Find_Options_AreKept) {
  insert_numbered("c", 5);
  const auto ids = [&](std::string_view rest) {
    return batch(run(R"({"find": "c", "projection": {"_id": 1}, )" + std::string(rest) + "}"));
  };
  EXPECT_THAT(ids(R"("sort": {"_id": -1}, "skip": 1, "limit": 2)"),
              ElementsAre(R"({ "_id" : 3 })", R"({ "_id" : 2 })"));
  EXPECT_THAT(ids(R"("limit": 1, "singleBatch": true)"), SizeIs(1));
  EXPECT_THAT(ids(R"("filter": {"$expr": {"$eq": ["$_id", "$$x"]}}, "let": {"x": 3})"),
              ElementsAre(R"({ "_id" : 3 })"));
  EXPECT_THAT(ids(R"("hint": "_id_", "allowDiskUse": true, "comment": {"any": 1})"), SizeIs(5));
  EXPECT_EQ(code_of(R"({"find": "c", "hint": "none"})"), 2);
  EXPECT_EQ(code_of(R"({"find": "c", "hint": 1})"), 9);
  EXPECT_EQ(bad(R"({"find": "c", "limit": -1})"),
            "51024: BSON field 'limit' value must be >= 0, actual value '-1'");
  EXPECT_EQ(code_of(R"({"find": "c", "batchSize": -1})"), 51024);
  EXPECT_EQ(code_of(R"({"find": "c", "filter": {"$where": "1"}})"), 2);
  EXPECT_THAT(ids(R"("min": {"_id": 1}, "max": {"_id": 3}, "hint": {"_id": 1})"),
              ElementsAre(R"({ "_id" : 1 })", R"({ "_id" : 2 })"));
  EXPECT_EQ(bad(R"({"find": "c", "min": {"_id": 1}})"),
            "51173: When using min()/max() a hint of which index to use must be provided");
  EXPECT_THAT(ids(R"("filter": {"_id": 2}, "returnKey": true)"), ElementsAre(R"({ "_id" : 2 })"));
  EXPECT_THAT(ids(R"("limit": 1, "showRecordId": true)")[0], HasSubstr("$recordId"));
  EXPECT_EQ(code_of(R"({"find": "c", "requestResumeToken": true})"), 115);
  EXPECT_EQ(code_of(R"({"find": "c", "awaitData": true})"), 9);
  EXPECT_EQ(code_of(R"({"find": "c", "tailable": true})"), 2);
}

TEST_F(Crud, Aggregate_Forms_GiveCursors) {
  insert_numbered("c", 3);
  EXPECT_THAT(batch(run(R"({"aggregate": "c", "cursor": {}, "pipeline": [
                  {"$match": {"_id": {"$gt": 0}}}, {"$group": {"_id": 1, "n": {"$sum": 1}}}]})")),
              ElementsAre(R"({ "_id" : 1, "n" : 2 })"));
  EXPECT_EQ(bad(R"({"aggregate": "c", "pipeline": []})"),
            "9: The 'cursor' option is required, except for aggregate with the explain argument");
  EXPECT_EQ(code_of(R"({"aggregate": "c", "pipeline": [{"$foo": 1}], "cursor": {}})"), 40324);
  EXPECT_EQ(code_of(R"({"aggregate": "c", "pipeline": {}, "cursor": {}})"), 14);
  EXPECT_EQ(code_of(R"({"aggregate": "c", "pipeline": [1], "cursor": {}})"), 14);
  EXPECT_THAT(batch(run(R"({"aggregate": 1, "cursor": {},
                  "pipeline": [{"$documents": [{"a": 1}]}]})")),
              ElementsAre(R"({ "a" : 1 })"));
  EXPECT_EQ(
      good(R"({"aggregate": "c", "cursor": {}, "pipeline": [{"$out": "o"}]})", "test", "cursor"),
      R"({ "firstBatch" : [  ], "id" : 0, "ns" : "test.c" })");
  EXPECT_THAT(find("o"), SizeIs(3));
  good(R"({"aggregate": "c", "cursor": {}, "pipeline": [{"$set": {"x": 1}}, {"$merge": "o"}]})");
  EXPECT_THAT(find("o", R"({"x": 1})"), SizeIs(3));
  EXPECT_THAT(batch(run(R"({"aggregate": "c", "cursor": {}, "let": {"v": 2}, "pipeline": [
                  {"$match": {"$expr": {"$eq": ["$_id", "$$v"]}}}]})")),
              ElementsAre(R"({ "_id" : 2 })"));
}

TEST_F(Crud, Aggregate_CurrentOp_ShowsItself) {
  const bson::Document reply = run(
      R"({"aggregate": 1, "cursor": {}, "pipeline": [{"$currentOp": {}}, {"$match": {"op": "command"}}]})",
      "admin");
  ASSERT_THAT(batch(reply), SizeIs(1));
  EXPECT_THAT(batch(reply)[0], HasSubstr("$currentOp"));
  EXPECT_EQ(field(reply, "cursor.ns"), R"("admin.$cmd.aggregate")");
  EXPECT_EQ(code_of(R"({"aggregate": 1, "cursor": {}, "pipeline": [{"$currentOp": {}}]})"), 73);
}

// The stage $currentOp shows a large command whole, or, with truncateOps, the beginning of the
// command's text and its comment. The command currentOp truncates.
TEST_F(Crud, CurrentOp_OfALargeCommand_IsWholeOrHasItsComment) {
  const std::string match = R"({"$match": {"command.comment": "mine", "x": {"$ne": ")" +
                            std::string(2000, 'x') + R"("}}})";
  const auto shown = [&](const std::string& options) {
    const bson::Document reply =
        run(R"({"aggregate": 1, "cursor": {}, "comment": "mine", "pipeline": [{"$currentOp": )" +
                options + "}, " + match + "]}",
            "admin");
    const std::vector<std::string> documents = batch(reply);
    return documents.size() == 1 ? documents[0] : std::string();
  };
  EXPECT_THAT(shown("{}"), AllOf(HasSubstr(std::string(2000, 'x')), Not(HasSubstr("$truncated"))));
  EXPECT_THAT(shown(R"({"truncateOps": true})"),
              AllOf(HasSubstr(R"("$truncated" : "{ aggregate: 1)"),
                    HasSubstr(R"("comment" : "mine")"), Not(HasSubstr(std::string(2000, 'x')))));
}

TEST_F(Crud, Explain_Commands_ShowTheirPlans) {
  insert_numbered("c", 3);
  EXPECT_EQ(good(R"({"explain": {"find": "c", "filter": {"_id": 1}}, "verbosity": "queryPlanner"})",
                 "test", "queryPlanner.winningPlan"),
            R"({ "stage" : "IDHACK" })");
  EXPECT_EQ(good(R"({"explain": {"find": "c"}})", "test", "executionStats.nReturned"), "3");
  EXPECT_EQ(good(R"({"explain": {"count": "c", "query": {"_id": 1}}})", "test",
                 "executionStats.executionStages.nCounted"),
            "1");
  EXPECT_EQ(good(R"({"explain": {"count": "c", "query": {}, "skip": 1}})", "test",
                 "executionStats.executionStages.nCounted"),
            "2");
  const bson::Document update = run(R"({"explain": {"update": "c", "updates": [
      {"q": {}, "u": {"$set": {"a": 1}}, "multi": true}]}})");
  EXPECT_EQ(field(update, "executionStats.nReturned"), "0");
  EXPECT_EQ(field(update, "executionStats.totalDocsExamined"), "3");
  EXPECT_EQ(field(update, "executionStats.executionStages.nWouldModify"), "3");
  EXPECT_EQ(field(update, "executionStats.executionStages.works"), "4");
  EXPECT_EQ(field(update, "executionStats.executionStages.inputStage.nReturned"), "3");
  EXPECT_EQ(good(R"({"explain": {"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 0}]}})",
                 "test", "executionStats.executionStages.nWouldDelete"),
            "1");
  // The limit of one document for a write is not a stage.
  const bson::Document one = run(R"({"explain": {"update": "c", "updates": [
      {"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]}})");
  EXPECT_EQ(field(one, "queryPlanner.winningPlan.stage"), R"("UPDATE")");
  EXPECT_THAT(field(one, "queryPlanner.winningPlan.inputStage.stage"), Not(HasSubstr("LIMIT")));
  EXPECT_THAT(field(one, "executionStats.executionStages.inputStage.stage"),
              Not(HasSubstr("LIMIT")));
  for (const char* const command :
       {R"({"distinct": "c", "key": "a"})", R"({"aggregate": "c", "pipeline": [], "cursor": {}})",
        R"({"findAndModify": "c", "update": {"$set": {"a": 1}}})"}) {
    EXPECT_THAT(good(R"({"explain": )" + std::string(command) + "}"), HasSubstr("serverInfo"));
  }
  EXPECT_THAT(find("c", R"({"a": 1})"), IsEmpty());
  EXPECT_EQ(code_of(R"({"explain": {"insert": "c", "documents": [{}]}})"), 59);
  EXPECT_EQ(code_of(R"({"explain": {"find": "c"}, "verbosity": "loud"})"), 2);
  EXPECT_THAT(good(R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 1}}], "explain": true})"),
              HasSubstr("queryPlanner"));
}

TEST_F(Crud, ExplainOfAggregate_TellsOfStages) {
  insert_numbered("c", 3);
  const auto explain = [](const std::string& fields) {
    return R"({"explain": {"aggregate": "c", "pipeline": )" + fields + "}}";
  };
  // The part of a pipeline that a find can execute is explained like a find.
  const bson::Document found = run(explain(R"([{"$match": {"_id": 1}}], "cursor": {})"));
  EXPECT_EQ(field(found, "stages"), "missing");
  EXPECT_EQ(field(found, "executionStats.nReturned"), "1");
  const bson::Document staged = run(explain(R"([{"$group": {"_id": "$a"}}], "cursor": {})"));
  EXPECT_EQ(field(staged, "stages.0.$cursor.explainVersion"), "missing");
  EXPECT_EQ(field(staged, "stages.0.$cursor.executionStats.nReturned"), "3");
  EXPECT_NE(field(staged, "stages.1.$group"), "missing");
  EXPECT_EQ(field(staged, "stages.1.nReturned"), "1");
  EXPECT_NE(field(staged, "stages.1.executionTimeMillisEstimate"), "missing");
  const bson::Document several = run(explain(
      R"([{"$unwind": "$_id"}, {"$match": {"x": 5}}, {"$unionWith": "c"}, {"$limit": 2}],
         "cursor": {})"));
  EXPECT_EQ(field(several, "stages.1.nReturned"), "3");
  EXPECT_EQ(field(several, "stages.2.nReturned"), "0");
  EXPECT_EQ(field(several, "stages.3.nReturned"), "2");
  EXPECT_EQ(field(several, "stages.4.nReturned"), "2");
  const bson::Document made = run(explain(R"([{"$collStats": {}}], "cursor": {})"));
  EXPECT_EQ(field(made, "stages.0.nReturned"), "1");
  // An explained pipeline with $out does not write.
  const bson::Document writing = run(explain(R"([{"$out": "d"}], "cursor": {})"));
  EXPECT_EQ(field(writing, "stages.1.nReturned"), "missing");
  EXPECT_THAT(find("d"), IsEmpty());

  EXPECT_THAT(bad(explain("[]")), StartsWith("9: The 'cursor' option is required"));
  EXPECT_EQ(bad(explain(R"([], "cursor": {}, "explain": true)")),
            "9: The 'explain' option is illegal when a explain verbosity is also provided");
  for (const std::string& command :
       {explain(R"([], "cursor": {}, "writeConcern": {"w": 1})"),
        std::string(R"({"aggregate": "c", "pipeline": [], "explain": true,
                        "writeConcern": {"j": true}})")}) {
    EXPECT_EQ(bad(command), "9: Aggregation explain does not support the'writeConcern' option");
  }
}

}  // namespace
}  // namespace gridmount::wire
