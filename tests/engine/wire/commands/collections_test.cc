// Goal: collections, databases and indexes are listed, made, changed and dropped as a server does
// it, and their sizes are reported.
// Source: MongoDB 7.0 manual, "Administration Commands", "Diagnostic Commands".
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class CollectionCommands : public ServiceTest {
 protected:
  std::vector<std::string> names(std::string_view rest = "") {
    return batch(run(R"({"listCollections": 1, "nameOnly": true)" + std::string(rest) + "}"));
  }
};

TEST_F(CollectionCommands, ListDatabases_Options_AreKept) {
  good(R"({"insert": "c", "documents": [{}]})", "one");
  good(R"({"insert": "c", "documents": [{}]})", "two");
  const bson::Document all = run(R"({"listDatabases": 1})", "admin");
  EXPECT_EQ(field(all, "databases.0.name"), R"("admin")");
  EXPECT_EQ(field(all, "databases.0.empty"), "true");
  EXPECT_EQ(field(all, "databases.1.name"), R"("one")");
  EXPECT_EQ(field(all, "databases.2.empty"), "false");
  EXPECT_EQ(field(all, "databases.3"), "missing");
  EXPECT_NE(field(all, "totalSize"), "missing");
  EXPECT_EQ(good(R"({"listDatabases": 1, "nameOnly": true, "filter": {"name": "two"}})", "admin"),
            R"({ "databases" : [ { "name" : "two" } ] })");
  EXPECT_EQ(bad(R"({"listDatabases": 1})"),
            "13: listDatabases may only be run against the admin database.");
  EXPECT_EQ(good(R"({"dropDatabase": 1})", "two"), R"({ "dropped" : "two" })");
  EXPECT_EQ(good(R"({"dropDatabase": 1})", "two"), "{ }");
  EXPECT_EQ(code_of(R"({"dropDatabase": 2})"), 5255100);
}

TEST_F(CollectionCommands, Create_PreAndPostImages_AreShown) {
  good(R"({"create": "c", "changeStreamPreAndPostImages": {"enabled": true}})");
  EXPECT_EQ(field(run(R"({"listCollections": 1})"), "cursor.firstBatch.0.options"),
            R"({ "changeStreamPreAndPostImages" : { "enabled" : true } })");
  EXPECT_EQ(code_of(R"({"create": "d", "changeStreamPreAndPostImages": {"on": true}})"), 72);
}

TEST_F(CollectionCommands, Create_Options_AreShown) {
  EXPECT_EQ(good(R"({"create": "c"})"), "{ }");
  EXPECT_EQ(good(R"({"create": "c"})"), "{ }");
  EXPECT_EQ(bad(R"({"create": "c", "capped": true, "size": 4096})"),
            "48: Collection test.c already exists.");
  for (int i = 0; i < 2; ++i) good(R"({"create": "t", "capped": true, "size": 4096, "max": 5})");
  good(R"({"create": "v", "viewOn": "c", "pipeline": [{"$match": {"a": 1}}]})");
  good(
      R"({"create": "i", "idIndex": {"key": {"_id": 1}, "name": "_id_", "v": 2, "ns": "test.i"}})");
  EXPECT_THAT(names(), SizeIs(4));
  EXPECT_THAT(names(R"(, "filter": {"type": "view"})"),
              ElementsAre(R"({ "name" : "v", "type" : "view" })"));
  const bson::Document listed =
      run(R"({"listCollections": 1, "filter": {"options.capped": true}, "cursor": {}})");
  EXPECT_EQ(field(listed, "cursor.ns"), R"("test.$cmd.listCollections")");
  EXPECT_EQ(field(listed, "cursor.firstBatch.0.options"),
            R"({ "capped" : true, "size" : 4096, "max" : 5 })");
  EXPECT_EQ(field(listed, "cursor.firstBatch.0.idIndex.name"), R"("_id_")");
  for (const char* const option : {R"("timeseries": {"timeField": "t"})",
                                   R"("clusteredIndex": {"key": {"_id": 1}, "unique": true})",
                                   R"("storageEngine": {"wiredTiger": {"a": 1}})"}) {
    EXPECT_EQ(code_of(R"({"create": "x", )" + std::string(option) + "}"), 115) << option;
  }
  EXPECT_EQ(code_of(R"({"create": "x", "odd": 1})"), 40415);
  EXPECT_EQ(code_of(R"({"create": "a$b"})"), 73);
}

TEST_F(CollectionCommands, ListCollections_Uuid_IsThatOfTheCollection) {
  good(R"({"create": "c"})");
  good(R"({"create": "v", "viewOn": "c", "pipeline": []})");
  const auto uuid = [&](const std::string& name) {
    return field(run(R"({"listCollections": 1, "filter": {"name": ")" + name + R"("}})"),
                 "cursor.firstBatch.0.info.uuid");
  };
  const std::string first = uuid("c");
  EXPECT_THAT(first, HasSubstr("04"));
  EXPECT_EQ(uuid("v"), "missing");
  good(R"({"renameCollection": "test.c", "to": "test.d"})", "admin");
  EXPECT_EQ(uuid("d"), first);
}

TEST_F(CollectionCommands, ListCollections_ByName_FindsTheseAlone) {
  for (const char* const name : {"a", "b", "c"})
    good(R"({"create": ")" + std::string(name) + "\"}");
  good(R"({"create": "v", "viewOn": "a", "pipeline": []})");
  const auto found = [&](const std::string& filter) { return names(R"(, "filter": )" + filter); };
  EXPECT_THAT(found(R"({"name": "b"})"), ElementsAre(R"({ "name" : "b", "type" : "collection" })"));
  EXPECT_THAT(found(R"({"name": {"$eq": "v"}, "type": "view"})"), SizeIs(1));
  EXPECT_THAT(found(R"({"name": "b", "type": "view"})"), SizeIs(0));
  EXPECT_THAT(found(R"({"name": {"$in": ["c", "a", "none", "", "a$b"]}})"),
              ElementsAre(R"({ "name" : "a", "type" : "collection" })",
                          R"({ "name" : "c", "type" : "collection" })"));
  EXPECT_THAT(found(R"({"name": {"$in": ["a", "b"], "$ne": "a"}})"), SizeIs(1));
  EXPECT_THAT(
      found(R"({"name": {"$in": [{"$regularExpression": {"pattern": "^[ab]", "options": ""}}]}})"),
      SizeIs(2));
  EXPECT_THAT(found(R"({"name": {"$gt": "a"}})"), SizeIs(3));
  EXPECT_THAT(found(R"({"name": 5})"), SizeIs(0));
}

TEST_F(CollectionCommands, SystemProfile_IsNotWrittenTo) {
  good(R"({"create": "system.profile", "capped": true, "size": 1048576})");
  EXPECT_EQ(bad(R"({"insert": "system.profile", "documents": [{"a": 1}]})"),
            "73: cannot write to 'test.system.profile'");
  EXPECT_EQ(
      code_of(R"({"update": "system.profile", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]})"),
      73);
  EXPECT_EQ(code_of(R"({"findAndModify": "system.profile", "query": {}, "remove": true})"), 73);
}

TEST_F(CollectionCommands, Ttl_OnACappedCollection_IsRefused) {
  good(R"({"create": "c", "capped": true, "size": 4096})");
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": [
      {"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 1}]})"),
            67);
  good(R"({"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1"}]})");
  EXPECT_EQ(code_of(R"({"collMod": "c", "index": {"name": "at_1", "expireAfterSeconds": 1}})"), 72);
}

TEST_F(CollectionCommands, ListCollections_InBatches_AreReadByGetMore) {
  for (const char* const name : {"a", "b", "c"}) {
    good(R"({"create": ")" + std::string(name) + "\"}");
  }
  const bson::Document first = run(R"({"listCollections": 1, "cursor": {"batchSize": 2}})");
  EXPECT_THAT(batch(first), SizeIs(2));
  const bson::Document rest =
      run(R"({"getMore": {"$numberLong": ")" + std::to_string(cursor_id(first)) +
          R"("}, "collection": "$cmd.listCollections"})");
  EXPECT_THAT(batch(rest), SizeIs(1));
  EXPECT_EQ(cursor_id(rest), 0);
}

TEST_F(CollectionCommands, Drop_AndRename_SayWhatTheyFound) {
  insert_numbered("c", 2);
  EXPECT_EQ(good(R"({"drop": "none"})"), "{ }");
  good(R"({"renameCollection": "test.c", "to": "test.d"})", "admin");
  EXPECT_EQ(code_of(R"({"renameCollection": "test.c", "to": "test.e"})", "admin"), 26);
  insert_numbered("e", 1);
  EXPECT_EQ(code_of(R"({"renameCollection": "test.d", "to": "test.e"})", "admin"), 48);
  good(R"({"renameCollection": "test.d", "to": "test.e", "dropTarget": true})", "admin");
  EXPECT_THAT(find("e"), SizeIs(2));
  EXPECT_EQ(code_of(R"({"renameCollection": "test.e", "to": "test.f"})"), 13);
  EXPECT_EQ(good(R"({"drop": "e"})"), R"({ "nIndexesWas" : 1, "ns" : "test.e" })");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(CollectionCommands, Views_AreNoCollections) {
  insert_numbered("c", 2);
  good(R"({"create": "v", "viewOn": "c", "pipeline": []})");
  EXPECT_EQ(bad(R"({"createIndexes": "v", "indexes": [{"key": {"a": 1}, "name": "a_1"}]})"),
            "166: Namespace test.v is a view, not a collection");
  EXPECT_EQ(code_of(R"({"renameCollection": "test.v", "to": "test.w"})", "admin"), 166);
  EXPECT_EQ(bad(R"({"renameCollection": "test.c", "to": "test.v", "dropTarget": true})", "admin"),
            "48: a view already exists with that name: test.v");
  EXPECT_THAT(find("v"), SizeIs(2));
}

TEST_F(CollectionCommands, SystemNames_AreNotMade) {
  insert_numbered("c", 1);
  for (const char* const name :
       {"system.indexes", "system.namespaces", "system.views", "system.roles", "system."}) {
    const std::string collection = name;
    // As on servers, system.views may be created, although it exists without a `create`.
    EXPECT_EQ(code_of(R"({"create": ")" + collection + "\"}"),
              collection == "system.views" ? 0 : 73)
        << name;
    EXPECT_EQ(code_of(R"({"createIndexes": ")" + collection +
                      R"(", "indexes": [{"key": {"a": 1}, "name": "a_1"}]})"),
              73)
        << name;
    EXPECT_EQ(code_of(R"({"insert": ")" + collection + R"(", "documents": [{}]})"), 73) << name;
    EXPECT_EQ(code_of(R"({"update": ")" + collection +
                      R"(", "updates": [{"q": {}, "u": {"a": 1}, "upsert": true}]})"),
              73)
        << name;
    EXPECT_EQ(code_of(R"({"findAndModify": ")" + collection +
                      R"(", "update": {"a": 1}, "upsert": true})"),
              73)
        << name;
    EXPECT_EQ(
        code_of(R"({"renameCollection": "test.c", "to": "test.)" + collection + "\"}", "admin"), 73)
        << name;
  }
  EXPECT_EQ(names(), std::vector<std::string>{R"({ "name" : "c", "type" : "collection" })"});
  good(R"({"create": "system.profile", "capped": true, "size": 4096})");
  good(R"({"insert": "system.js", "documents": [{"_id": "f"}]})");
  EXPECT_EQ(code_of(R"({"create": "system.new_users"})", "admin"), 73);
  EXPECT_EQ(code_of(R"({"insert": "system.new_users", "documents": [{}]})", "admin"), 73);
}

TEST_F(CollectionCommands, IdIndex_HasNoOptions) {
  const auto code = [&](std::string_view index) {
    return code_of(R"({"createIndexes": "c", "indexes": [)" + std::string(index) + "]}");
  };
  EXPECT_EQ(code(R"({"key": {"_id": 1}, "name": "i", "unique": true})"), 197);
  EXPECT_EQ(code(R"({"key": {"_id": 1}, "name": "i", "sparse": true})"), 197);
  EXPECT_EQ(code(R"({"key": {"_id": 1}, "name": "i", "expireAfterSeconds": 5})"), 197);
  EXPECT_EQ(code(R"({"key": {"_id": 1}, "name": "_id_", "hidden": true})"), 197);
  EXPECT_EQ(bad(R"({"createIndexes": "c", "indexes": [{"key": {"_id": -1}, "name": "i"}]})"),
            "2: The field 'key' for an _id index must be {_id: 1}, but got { _id: -1 }");
  good(R"({"createIndexes": "c", "indexes": [{"key": {"_id": 1}, "name": "_id_1"}]})");
  good(R"({"createIndexes": "c", "indexes": [{"key": {"_id": "hashed"}, "name": "h"},
           {"key": {"_id": -1, "a": 1}, "name": "_id_-1_a_1", "unique": true}]})");
}

TEST_F(CollectionCommands, IndexesOfTheSameKeys_AreToldByName) {
  good(R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"},
           {"key": {"a": 1}, "name": "sparse", "sparse": true}]})");
  EXPECT_EQ(bad(R"({"dropIndexes": "c", "index": {"a": 1}})"),
            "181: 2 indexes found for key: { a: 1 }, identify by name instead. Conflicting "
            "indexes: a_1, sparse");
  EXPECT_EQ(bad(R"({"find": "c", "hint": {"a": 1}})"),
            "27: Hint matched multiple indexes, must hint by index name. Matched: a_1 and sparse");
  good(R"({"find": "c", "hint": "sparse"})");
  good(R"({"dropIndexes": "c", "index": "sparse"})");
  good(R"({"dropIndexes": "c", "index": {"a": 1}})");
}

TEST_F(CollectionCommands, CollMod_AndConvertToCapped_Change) {
  insert_numbered("c", 3);
  good(R"({"collMod": "c", "validator": {"_id": {"$gte": 0}}, "validationAction": "warn"})");
  good(
      R"({"createIndexes": "c", "indexes": [{"key": {"d": 1}, "name": "d", "expireAfterSeconds": 5}]})");
  EXPECT_EQ(good(R"({"collMod": "c", "index": {"name": "d", "expireAfterSeconds": 9}})"),
            R"({ "expireAfterSeconds_old" : 5, "expireAfterSeconds_new" : 9 })");
  EXPECT_EQ(code_of(R"({"collMod": "none", "validator": {}})"), 26);
  EXPECT_EQ(code_of(R"({"collMod": "c", "odd": {}})"), 40415);
  for (const char* const size : {"0", "-1", R"("4096")", "null", R"({"$numberDecimal": "0.5"})"}) {
    EXPECT_EQ(code_of(R"({"convertToCapped": "c", "size": )" + std::string(size) + "}"), 72)
        << size;
  }
  good(R"({"convertToCapped": "c", "size": 4096})");
  EXPECT_EQ(good(R"({"collStats": "c"})", "test", "capped"), "true");
  EXPECT_EQ(code_of(R"({"convertToCapped": "none", "size": 1})"), 26);
}

TEST_F(CollectionCommands, Create_OfAView_RefusesWhatItCannotHave) {
  EXPECT_EQ(code_of(R"({"create": "v", "viewOn": "", "pipeline": []})"), 2);
  EXPECT_EQ(code_of(R"({"create": "v", "viewOn": "c", "pipeline": [],
                        "idIndex": {"key": {"_id": 1}, "name": "_id_"}})"),
            72);
  EXPECT_EQ(code_of(R"({"create": "c", "idIndex": {"key": {"_id": 1}}})"), 9);
}

// As with servers, the filter sees only the fields of the reply.
TEST_F(CollectionCommands, ListCollections_OfNamesOnly_FiltersByNames) {
  good(R"({"create": "c", "capped": true, "size": 4096})");
  EXPECT_THAT(batch(run(R"({"listCollections": 1, "filter": {"options.capped": true}})")),
              SizeIs(1));
  EXPECT_THAT(names(R"(, "filter": {"options.capped": true})"), IsEmpty());
  EXPECT_THAT(names(R"(, "filter": {"type": "collection"})"), SizeIs(1));
}

TEST_F(CollectionCommands, Validate_OfMetadata_ReadsNoDocuments) {
  insert_numbered("c", 3);
  EXPECT_EQ(good(R"({"validate": "c"})", "test", "nrecords"), "3");
  EXPECT_EQ(good(R"({"validate": "c"})", "test", "repairMode"), R"("None")");
  EXPECT_EQ(good(R"({"validate": "c", "metadata": true})", "test", "nrecords"), "missing");
  EXPECT_EQ(good(R"({"validate": "c", "metadata": true})", "test", "indexDetails._id_.valid"),
            "true");
  EXPECT_EQ(code_of(R"({"validate": "c", "metadata": true, "full": true})"), 72);
  EXPECT_EQ(code_of(R"({"validate": "none", "metadata": true})"), 26);
}

TEST_F(CollectionCommands, Indexes_Life_IsAsMongoDbHasIt) {
  EXPECT_EQ(code_of(R"({"listIndexes": "c"})"), 26);
  EXPECT_EQ(
      good(R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]})"),
      R"({ "numIndexesBefore" : 1, "numIndexesAfter" : 2, "createdCollectionAutomatically" : true })");
  EXPECT_EQ(
      good(
          R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1", "ns": "test.c"}]})",
          "test", "note"),
      R"("all indexes already exist")");
  EXPECT_EQ(good(R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}]})", "test",
                 "createdCollectionAutomatically"),
            "missing");
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "x": 1}]})"), 197);
  EXPECT_THAT(batch(run(R"({"listIndexes": "c"})")),
              ElementsAre(R"({ "v" : 2, "key" : { "_id" : 1 }, "name" : "_id_" })",
                          R"({ "v" : 2, "key" : { "a" : 1 }, "name" : "a_1" })"));
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": []})"), 2);
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": [{"key": {"b": 1}}]})"), 9);
  EXPECT_EQ(bad(R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "x"}]})"),
            "85: Index already exists with a different name: a_1");
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": [{"key": {"b": 1}, "name": "a_1"}]})"),
            86);
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "indexes": [{"key": {"b": "2d"}, "name": "t"}]})"),
            67);
  EXPECT_EQ(
      code_of(R"({"createIndexes": "c", "indexes": [{"key": {"b": 1}, "name": "b", "odd": 1}]})"),
      197);
  good(R"({"createIndexes": "c", "indexes": [{"key": {"b": 1}, "name": "b", "odd": 1}],
           "ignoreUnknownIndexOptions": true})");
  EXPECT_EQ(code_of(R"({"createIndexes": "c", "commitQuorum": 1,
                        "indexes": [{"key": {"q": 1}, "name": "q"}]})"),
            2);
  EXPECT_EQ(bad(R"({"dropIndexes": "c", "index": "none"})"),
            "27: index not found with name [none]");
  EXPECT_EQ(bad(R"({"dropIndexes": "c", "index": "_id_"})"), "72: cannot drop _id index");
  EXPECT_EQ(code_of(R"({"dropIndexes": "none", "index": "*"})"), 26);
  EXPECT_EQ(good(R"({"dropIndexes": "c", "index": {"b": 1}})"), R"({ "nIndexesWas" : 3 })");
  for (const char* const name : {"nameOnly", "authorizedCollections"}) {
    EXPECT_EQ(code_of(R"({"listCollections": 1, ")" + std::string(name) + R"(": 1})"), 14) << name;
  }
  EXPECT_EQ(
      code_of(
          R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "hidden": 1}]})"),
      14);
  EXPECT_EQ(code_of(R"({"explain": {"distinct": "c", "key": ""}})"), 40352);
  EXPECT_EQ(good(R"({"reIndex": "c"})", "test", "nIndexes"), "2");
  EXPECT_EQ(good(R"({"deleteIndexes": "c", "index": ["*"]})"),
            R"({ "nIndexesWas" : 2, "msg" : "non-_id indexes dropped for collection" })");
}

TEST_F(CollectionCommands, CreateIndexes_OverDuplicates_LeavesNothing) {
  insert("c", R"([{"a": 1}, {"a": 1}])");
  const bson::Document failed = run(R"({"createIndexes": "c", "indexes": [
      {"key": {"b": 1}, "name": "b"}, {"key": {"a": 1}, "name": "a", "unique": true}]})");
  EXPECT_EQ(field(failed, "code"), "11000");
  EXPECT_EQ(field(failed, "keyPattern"), R"({ "a" : 1 })");
  EXPECT_EQ(field(failed, "codeName"), R"("DuplicateKey")");
  EXPECT_THAT(batch(run(R"({"listIndexes": "c"})")), SizeIs(1));
}

TEST_F(CollectionCommands, Sizes_Commands_TellThem) {
  insert_numbered("c", 10);
  EXPECT_EQ(good(R"({"collStats": "c"})", "test", "count"), "10");
  EXPECT_EQ(good(R"({"collStats": "none"})", "test", "count"), "0");
  EXPECT_EQ(good(R"({"dbStats": 1, "scale": 1024})", "test", "objects"), "10");
  EXPECT_EQ(code_of(R"({"collStats": "c", "scale": 0})"), 51024);
  EXPECT_EQ(good(R"({"dataSize": "test.c"})", "test", "numObjects"), "10");
  EXPECT_EQ(good(R"({"validate": "c", "full": true})", "test", "valid"), "true");
  EXPECT_EQ(code_of(R"({"validate": "c", "full": true, "background": true})"), 72);
  EXPECT_EQ(code_of(R"({"validate": "none"})"), 26);
  EXPECT_EQ(code_of(R"({"validate": "c", "repair": true})"), 115);
  EXPECT_EQ(code_of(R"({"compact": "none"})"), 26);
  good(R"({"create": "v", "viewOn": "c"})");
  EXPECT_EQ(code_of(R"({"compact": "v"})"), 166);
  EXPECT_EQ(code_of(R"({"collStats": "v"})"), 166);
  EXPECT_EQ(code_of(R"({"dataSize": "test.v"})"), 166);
  EXPECT_EQ(code_of(R"({"listIndexes": "v"})"), 166);
  EXPECT_THAT(field(run(R"({"insert": "v", "documents": [{}]})"), "writeErrors.0.code"), "166");
}

TEST_F(CollectionCommands, Validate_OfALargeCollection_EndsAfterMaxTime) {
  insert_numbered("c", 20'000);
  EXPECT_EQ(bad(R"({"validate": "c", "maxTimeMS": 1})"), "50: operation exceeded time limit");
  EXPECT_EQ(good(R"({"validate": "c", "maxTimeMS": 600000})", "test", "nrecords"), "20000");
}

TEST_F(CollectionCommands, Compact_AfterRemovals_GivesSpaceBack) {
  const std::string text(10'000, 'x');
  for (int i = 0; i < 200; ++i) insert("c", R"([{"text": ")" + text + R"("}])");
  insert("kept", R"([{"_id": 1}])");
  good(R"({"delete": "c", "deletes": [{"q": {}, "limit": 0}]})");
  EXPECT_GT(std::stoll(good(R"({"compact": "c", "force": true})", "test", "bytesFreed")),
            1'000'000);
  EXPECT_EQ(good(R"({"count": "kept"})", "test", "n"), "1");
  EXPECT_EQ(good(R"({"validate": "c"})", "test", "valid"), "true");
}

TEST_F(CollectionCommands, FileMd5_Chunks_AreDigested) {
  insert("fs.chunks",
         R"([{"files_id": 1, "n": 0, "data": {"$binary": {"base64": "aGVs", "subType": "00"}}},
                          {"files_id": 1, "n": 1, "data": {"$binary": {"base64": "bG8=", "subType": "00"}}},
                          {"files_id": 2, "n": 1, "data": {"$binary": {"base64": "bG8=", "subType": "00"}}}])");
  EXPECT_EQ(good(R"({"filemd5": 1, "root": "fs"})"),
            R"({ "numChunks" : 2, "md5" : "5d41402abc4b2a76b9719d911017c592" })");
  EXPECT_EQ(good(R"({"filemd5": 3})"),
            R"({ "numChunks" : 0, "md5" : "d41d8cd98f00b204e9800998ecf8427e" })");
  EXPECT_THAT(bad(R"({"filemd5": 2})"), StartsWith("16493: should have chunk: 0 have: 1"));
}

TEST_F(CollectionCommands, Collation_IsShownAndChecked) {
  good(R"({"create": "people", "collation": {"locale": "en", "strength": 2}})");
  const bson::Document listed = run(R"({"listCollections": 1, "filter": {"name": "people"}})");
  const std::string collation = field(listed, "cursor.firstBatch.0.options.collation");
  EXPECT_THAT(collation, testing::HasSubstr(R"("version" : "57.1")"));
  EXPECT_EQ(field(listed, "cursor.firstBatch.0.idIndex.collation"), collation);
  EXPECT_EQ(field(run(R"({"listIndexes": "people"})"), "cursor.firstBatch.0.collation"), collation);
  good(R"({"insert": "people", "documents": [{"_id": "Ada"}]})");
  const bson::Document refused = run(R"({"insert": "people", "documents": [{"_id": "ADA"}]})");
  EXPECT_EQ(field(refused, "writeErrors.0.code"), "11000");
  EXPECT_EQ(field(refused, "writeErrors.0.hexEncoded"), "[ true ]");
  EXPECT_EQ(field(refused, "writeErrors.0.collation"), collation);
  // The cursor of a find that the index on _id answers ends with its only document.
  const auto cursor_of = [&](const std::string& strength) {
    return field(run(R"({"find": "people", "filter": {"_id": "ada"}, "batchSize": 1, "collation":
                         {"locale": "en", "strength": )" +
                     strength + "}}"),
                 "cursor.id");
  };
  EXPECT_EQ(cursor_of("2"), "0");
  EXPECT_NE(cursor_of("1"), "0");
  EXPECT_EQ(field(run(R"({"create": "d", "idIndex": {"key": {"_id": 1}, "name": "_id_",
                          "collation": {"locale": "fr"}}})"),
                  "code"),
            "2");
}

}  // namespace
}  // namespace gridmount::wire
