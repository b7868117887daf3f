// Goal: documents, indexes, pipelines and cursors work with libmongoc's functions.
// Method: the tests write and read over the socket of a mounted store.
#include <gmock/gmock.h>

#include <deque>

#include "tests/clients/libmongoc/mongoc_fixture.h"

namespace gridmount::clients {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MongocDocuments : public MongocTest {
 protected:
  void SetUp() override {
    MongocTest::SetUp();
    items_ = collection("items");
  }
  void insert(std::string_view text) {
    EXPECT_TRUE(
        mongoc_collection_insert_one(items_.get(), document(text).get(), nullptr, nullptr, &error_))
        << error_.message;
  }
  void insert_numbered(int documents) {
    std::deque<Document> made;  // a deque, so that they stay at their addresses
    // Uses the struct tag, because the alignment attribute of the name bson_t is lost in a
    // template.
    std::vector<const struct _bson_t*> views;
    for (int i = 0; i < documents; ++i) {
      const std::string number = std::to_string(i);
      made.push_back(
          document(R"({"_id": )" + number + R"(, "kind": )" + std::to_string(i % 3) + "}"));
      views.push_back(made.back().get());
    }
    EXPECT_TRUE(mongoc_collection_insert_many(items_.get(), views.data(), views.size(), nullptr,
                                              nullptr, &error_))
        << error_.message;
  }
  // Returns the reply of update_one, update_many or replace_one.
  template <typename Update>
  std::string update(Update by, std::string_view filter, std::string_view change,
                     std::string_view options = "{}") {
    Document reply;
    if (!by(items_.get(), document(filter).get(), document(change).get(), document(options).get(),
            reply.get(), &error_)) {
      return error_.message;
    }
    return json(*reply);
  }

  Collection items_;
};

TEST_F(MongocDocuments, Types_ComeBackAsTheyWere) {
  const std::string_view text = R"({"_id": 1, "double": 1.5, "string": "ünïcödé",
      "document": {"a": 1}, "array": [1, "2", [3]], "binary": {"$binary": {"base64": "AP8=",
      "subType": "00"}}, "id": {"$oid": "65a000000000000000000001"}, "boolean": true,
      "date": {"$date": {"$numberLong": "-1"}}, "null": null,
      "regex": {"$regularExpression": {"pattern": "^a", "options": "i"}},
      "code": {"$code": "f"},
    "timestamp" : {"$timestamp" : {"t" : 1, "i" : 2}},
                  "long" : {"$numberLong" : "1099511627776"},
                           "decimal" : {"$numberDecimal" : "0.10"},
                                       "min" : {"$minKey" : 1},
                                               "max" : {
  "$maxKey" : 1
}
})";
  insert(text);
  EXPECT_THAT(find(items_.get()), ElementsAre(json(*document(text))));
}

TEST_F(MongocDocuments, Finds_FilterSortLimitAndProject) {
  insert_numbered(20);
  EXPECT_THAT(find(items_.get(), R"({"kind": 1, "_id": {"$gte": 4}})",
                   R"({"sort": {"_id": -1}, "skip": 1, "limit": 2, "projection": {"kind": 0}})"),
              ElementsAre(R"({ "_id" : 16 })", R"({ "_id" : 13 })"));
  EXPECT_EQ(count(items_.get(), R"({"kind": 1})"), 7);
  EXPECT_EQ(
      mongoc_collection_estimated_document_count(items_.get(), nullptr, nullptr, nullptr, &error_),
      20);
}

TEST_F(MongocDocuments, Updates_SayWhatTheyDid) {
  insert_numbered(9);
  EXPECT_EQ(update(mongoc_collection_update_one, R"({"_id": 3})", R"({"$set": {"a": 1}})"),
            R"({ "modifiedCount" : 1, "matchedCount" : 1, "upsertedCount" : 0 })");
  EXPECT_EQ(update(mongoc_collection_update_many, R"({"kind": 1})", R"({"$inc": {"n": 1}})"),
            R"({ "modifiedCount" : 3, "matchedCount" : 3, "upsertedCount" : 0 })");
  EXPECT_EQ(update(mongoc_collection_replace_one, R"({"_id": 5})", R"({"whole": "other"})"),
            R"({ "modifiedCount" : 1, "matchedCount" : 1, "upsertedCount" : 0 })");
  EXPECT_EQ(
      update(mongoc_collection_update_one, R"({"_id": 50})", R"({"$set": {"a": 1}})",
             R"({"upsert": true})"),
      R"({ "modifiedCount" : 0, "matchedCount" : 0, "upsertedCount" : 1, "upsertedId" : 50 })");
  EXPECT_THAT(find(items_.get(), R"({"_id": {"$in": [3, 5, 50]}})"),
              ElementsAre(R"({ "_id" : 3, "kind" : 0, "a" : 1 })",
                          R"({ "_id" : 5, "whole" : "other" })", R"({ "_id" : 50, "a" : 1 })"));
}

TEST_F(MongocDocuments, Deletes_RemoveOneOrAll) {
  insert_numbered(9);
  Document reply;
  EXPECT_TRUE(mongoc_collection_delete_one(items_.get(), document(R"({"kind": 0})").get(), nullptr,
                                           reply.get(), &error_));
  EXPECT_EQ(json(*reply), R"({ "deletedCount" : 1 })");
  Document all;
  EXPECT_TRUE(mongoc_collection_delete_many(items_.get(), document(R"({"kind": 0})").get(), nullptr,
                                            all.get(), &error_));
  EXPECT_EQ(json(*all), R"({ "deletedCount" : 2 })");
}

TEST_F(MongocDocuments, FindAndModify_ReturnsBeforeOrAfter) {
  insert_numbered(5);
  const auto modify = [&](bool after) {
    Document reply;
    EXPECT_TRUE(mongoc_collection_find_and_modify(items_.get(), document(R"({"kind": 1})").get(),
                                                  document(R"({"_id": -1})").get(),
                                                  document(R"({"$inc": {"n": 1}})").get(), nullptr,
                                                  false, false, after, reply.get(), &error_))
        << error_.message;
    return json_of(*reply, "value");
  };
  EXPECT_EQ(modify(false), R"({ "_id" : 4, "kind" : 1 })");
  EXPECT_EQ(modify(true), R"({ "_id" : 4, "kind" : 1, "n" : 2 })");
}

TEST_F(MongocDocuments, BulkWrites_GoOnAfterErrors_WhereUnordered) {
  for (const bool ordered : {true, false}) {
    run(R"({"drop": "items"})");
    const std::unique_ptr<mongoc_bulk_operation_t, Destroy> bulk(
        mongoc_collection_create_bulk_operation_with_opts(
            items_.get(),
            document(ordered ? R"({"ordered": true})" : R"({"ordered": false})").get()));
    for (const std::string_view each : {R"({"_id": 1})", R"({"_id": 1})", R"({"_id": 2})"}) {
      EXPECT_TRUE(mongoc_bulk_operation_insert_with_opts(bulk.get(), document(each).get(), nullptr,
                                                         &error_));
    }
    EXPECT_TRUE(mongoc_bulk_operation_update_many_with_opts(bulk.get(), document("{}").get(),
                                                            document(R"({"$set": {"a": 1}})").get(),
                                                            nullptr, &error_));
    Document reply;
    EXPECT_EQ(mongoc_bulk_operation_execute(bulk.get(), reply.get(), &error_), 0U);
    EXPECT_EQ(error_.code, 11000U);
    EXPECT_EQ(json_of(*reply, "nInserted"), ordered ? "1" : "2");
    EXPECT_EQ(json_of(*reply, "nModified"), ordered ? "0" : "2");
    EXPECT_EQ(json_of(*reply, "writeErrors.0.index"), "1");
  }
}

TEST_F(MongocDocuments, DuplicateKeys_AreNamed) {
  const Document reply = run(R"({"createIndexes": "items", "indexes": [
      {"key": {"a": 1, "b": -1}, "name": "both", "unique": true}]})");
  EXPECT_EQ(json_of(*reply, "numIndexesAfter"), "2");
  insert(R"({"_id": 1, "a": "x", "b": 2})");
  Document failure;
  EXPECT_FALSE(mongoc_collection_insert_one(items_.get(),
                                            document(R"({"_id": 2, "a": "x", "b": 2})").get(),
                                            nullptr, failure.get(), &error_));
  EXPECT_EQ(error_.code, 11000U);
  EXPECT_THAT(error_.message, HasSubstr("mongoc.items index: both dup key: { a: \"x\", b: 2 }"));
  const Document raw = run(R"({"insert": "items", "documents": [{"_id": 1}]})");
  EXPECT_EQ(json_of(*raw, "writeErrors.0.keyPattern"), R"({ "_id" : 1 })");
  EXPECT_EQ(json_of(*raw, "writeErrors.0.keyValue"), R"({ "_id" : 1 })");
}

TEST_F(MongocDocuments, Indexes_AreListedAndDropped) {
  insert_numbered(1);
  run(R"({"createIndexes": "items", "indexes": [{"key": {"a": 1}, "name": "a_1", "sparse": true}]})");
  EXPECT_THAT(all_of(Cursor(mongoc_collection_find_indexes_with_opts(items_.get(), nullptr))),
              ElementsAre(R"({ "v" : 2, "key" : { "_id" : 1 }, "name" : "_id_" })",
                          R"({ "v" : 2, "key" : { "a" : 1 }, "name" : "a_1", "sparse" : true })"));
  EXPECT_TRUE(mongoc_collection_drop_index(items_.get(), "a_1", &error_)) << error_.message;
  EXPECT_FALSE(mongoc_collection_drop_index(items_.get(), "a_1", &error_));
  EXPECT_EQ(error_.code, 27U);
}

TEST_F(MongocDocuments, Pipelines_GroupAndJoin) {
  insert_numbered(9);
  const Collection kinds = collection("kinds");
  EXPECT_TRUE(mongoc_collection_insert_one(
      kinds.get(), document(R"({"_id": 1, "name": "one"})").get(), nullptr, nullptr, &error_));
  Document pipeline = document(R"({"pipeline": [
      {"$match": {"kind": {"$gt": 0}}}, {"$group": {"_id": "$kind", "n": {"$sum": 1}}},
      {"$lookup": {"from": "kinds", "localField": "_id", "foreignField": "_id", "as": "kind"}},
      {"$sort": {"_id": 1}}]})");
  EXPECT_THAT(all_of(Cursor(mongoc_collection_aggregate(items_.get(), MONGOC_QUERY_NONE,
                                                        pipeline.get(), nullptr, nullptr))),
              ElementsAre(R"({ "_id" : 1, "n" : 3, "kind" : [ { "_id" : 1, "name" : "one" } ] })",
                          R"({ "_id" : 2, "n" : 3, "kind" : [  ] })"));
}

TEST_F(MongocDocuments, Cursors_GoOnBatchByBatch) {
  insert_numbered(250);
  for (const char* const size : {"2", "99", "125", "250"}) {
    EXPECT_EQ(find(items_.get(), "{}", std::string(R"({"batchSize": )") + size + "}").size(), 250U);
  }
  // A cursor that is not read to its end is killed.
  const auto open = [&]() {
    return json_of(*run(R"({"serverStatus": 1})", "admin"), "metrics.cursor.open.total");
  };
  const std::string before = open();
  Cursor cursor(mongoc_collection_find_with_opts(items_.get(), document("{}").get(),
                                                 document(R"({"batchSize": 10})").get(), nullptr));
  const bson_t* each = nullptr;
  ASSERT_TRUE(mongoc_cursor_next(cursor.get(), &each));
  EXPECT_NE(open(), before);
  cursor.reset();
  EXPECT_EQ(open(), before);
}

TEST_F(MongocDocuments, TailableCursors_FollowACappedCollection) {
  run(R"({"create": "log", "capped": true, "size": 65536})");
  const Collection log = collection("log");
  const auto insert_into_log = [&](std::string_view text) {
    EXPECT_TRUE(
        mongoc_collection_insert_one(log.get(), document(text).get(), nullptr, nullptr, &error_));
  };
  insert_into_log(R"({"_id": 1})");
  const Cursor cursor(mongoc_collection_find_with_opts(
      log.get(), document("{}").get(),
      document(R"({"tailable": true, "awaitData": true, "maxAwaitTimeMS": 100})").get(), nullptr));
  const bson_t* each = nullptr;
  ASSERT_TRUE(mongoc_cursor_next(cursor.get(), &each));
  EXPECT_FALSE(mongoc_cursor_next(cursor.get(), &each));
  EXPECT_FALSE(mongoc_cursor_error(cursor.get(), &error_));
  EXPECT_TRUE(mongoc_cursor_more(cursor.get()));
  insert_into_log(R"({"_id": 2})");
  ASSERT_TRUE(mongoc_cursor_next(cursor.get(), &each));
  EXPECT_EQ(json(*each), R"({ "_id" : 2 })");
}

TEST_F(MongocDocuments, Sessions_AreTaken) {
  mongoc_client_session_t* const session =
      mongoc_client_start_session(client_.get(), nullptr, &error_);
  ASSERT_NE(session, nullptr) << error_.message;
  bson_t options = BSON_INITIALIZER;
  EXPECT_TRUE(mongoc_client_session_append(session, &options, &error_));
  EXPECT_TRUE(mongoc_collection_insert_one(items_.get(), document(R"({"_id": 1})").get(), &options,
                                           nullptr, &error_))
      << error_.message;
  bson_destroy(&options);
  mongoc_client_session_destroy(session);
  EXPECT_EQ(count(items_.get()), 1);
}

}  // namespace
}  // namespace gridmount::clients
