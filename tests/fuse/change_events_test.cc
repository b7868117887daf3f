// Goal: each event of a change stream becomes exactly the change of the bucket that it describes,
// and a malformed or unknown event becomes a change of everything. Method: events as a server of
// version 6.0 sends them, written as JSON.
#include "fuse/tree/change_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "tests/must.h"

namespace gridmount::fuse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ChangeEventsTest : public testing::Test {
 protected:
  void add(std::string_view json) { events_.add(must(bson::document_from_json(json))); }
  const BucketChanges& fs() { return events_.changes().buckets.at("fs"); }
  static bson::Value id(int32_t number) { return bson::Value(number); }
  bool touches_nothing() { return events_.empty(); }

  ChangeEvents events_{"media"};
};

TEST_F(ChangeEventsTest, InsertedFile_GetsItsName) {
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a/b", "aliases": ["c"]}})");
  EXPECT_THAT(fs().content, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, ElementsAre("a/b", "c"));
  EXPECT_THAT(fs().renamed_files, IsEmpty());
  EXPECT_FALSE(fs().everything);
  EXPECT_FALSE(events_.changes().everything);
}

TEST_F(ChangeEventsTest, InsertedFileWithoutAName_IsUnnamed) {
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": 7}})");
  EXPECT_THAT(fs().unnamed, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, IsEmpty());
}

TEST_F(ChangeEventsTest, ChangedAttributes_LeaveTheNameAlone) {
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a"},
          "updateDescription": {"updatedFields": {"metadata.posix.mode": 4}, "removedFields": ["metadata.x"]}})");
  EXPECT_THAT(fs().metadata, ElementsAre(id(1)));
  EXPECT_THAT(fs().content, IsEmpty());
  EXPECT_THAT(fs().filenames, IsEmpty());
}

TEST_F(ChangeEventsTest, NewContent_MayChangeWhereTheNameLeads) {
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a"},
          "updateDescription": {"updatedFields": {"uploadDate": 4, "length": 3}, "removedFields": []}})");
  EXPECT_THAT(fs().content, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, ElementsAre("a"));
  EXPECT_THAT(fs().renamed_files, IsEmpty());
}

TEST_F(ChangeEventsTest, RenamedFile_HasANewNameAndUnknownOldOnes) {
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "new"},
          "updateDescription": {"updatedFields": {"filename": "new"}, "removedFields": []}})");
  EXPECT_THAT(fs().renamed_files, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, ElementsAre("new"));
}

TEST_F(ChangeEventsTest, AliasesThatWereRemovedOrCut_AreNames) {
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a"},
          "updateDescription": {"updatedFields": {}, "removedFields": ["aliases"]}})");
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 2}, "fullDocument": {"_id": 2, "filename": "b"},
          "updateDescription": {"updatedFields": {}, "removedFields": [],
                                "truncatedArrays": [{"field": "aliases", "newSize": 1}]}})");
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 3}, "fullDocument": {"_id": 3, "filename": "c"},
          "updateDescription": {"updatedFields": {"aliases.0": "x"}, "removedFields": []}})");
  EXPECT_THAT(fs().renamed_files, ElementsAre(id(1), id(2), id(3)));
}

TEST_F(ChangeEventsTest, UpdateThatDoesNotSayWhat_IsOfEverythingInTheDocument) {
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}})");
  EXPECT_THAT(fs().renamed_files, ElementsAre(id(1)));
  EXPECT_THAT(fs().content, ElementsAre(id(1)));
}

TEST_F(ChangeEventsTest, RemovedFile_IsKnownByItsIdAlone) {
  add(R"({"operationType": "delete", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}})");
  EXPECT_THAT(fs().renamed_files, ElementsAre(id(1)));
  EXPECT_THAT(fs().content, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, IsEmpty());
}

TEST_F(ChangeEventsTest, ReplacedFile_MayHaveHadAnotherName) {
  add(R"({"operationType": "replace", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a"}})");
  EXPECT_THAT(fs().renamed_files, ElementsAre(id(1)));
  EXPECT_THAT(fs().filenames, ElementsAre("a"));
}

TEST_F(ChangeEventsTest, Directories_AreKnownByPathOrId) {
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.directories"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "parent": "a", "name": "b"}})");
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.directories"},
          "documentKey": {"_id": 2}, "fullDocument": {"_id": 2, "parent": "", "name": "c"},
          "updateDescription": {"updatedFields": {"posix.mtime": 3}, "removedFields": []}})");
  EXPECT_THAT(fs().renamed_directories, IsEmpty());
  add(R"({"operationType": "update", "ns": {"db": "media", "coll": "fs.directories"},
          "documentKey": {"_id": 3}, "fullDocument": {"_id": 3, "parent": "", "name": "d"},
          "updateDescription": {"updatedFields": {"name": "d"}, "removedFields": []}})");
  add(R"({"operationType": "delete", "ns": {"db": "media", "coll": "fs.directories"},
          "documentKey": {"_id": 4}})");
  EXPECT_THAT(fs().renamed_directories, ElementsAre(id(3), id(4)));
  EXPECT_THAT(fs().directories, ElementsAre("a/b", "c", "d"));
}

TEST_F(ChangeEventsTest, RootsDocument_IsTheEmptyPath) {
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.directories"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "parent": null, "name": ""}})");
  EXPECT_THAT(fs().directories, ElementsAre(""));
}

TEST_F(ChangeEventsTest, Links_AreNamesOfTheirFiles) {
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.links"},
          "documentKey": {"_id": "a/link"}, "fullDocument": {"_id": "a/link", "file": 5}})");
  add(R"({"operationType": "delete", "ns": {"db": "media", "coll": "fs.links"},
          "documentKey": {"_id": "gone"}})");
  EXPECT_TRUE(fs().links);
  EXPECT_THAT(fs().filenames, ElementsAre("a/link", "gone"));
  EXPECT_THAT(fs().metadata, ElementsAre(id(5)));
}

TEST_F(ChangeEventsTest, DroppedAndRenamedCollections_AreWholeBuckets) {
  add(R"({"operationType": "drop", "ns": {"db": "media", "coll": "fs.chunks"}})");
  EXPECT_TRUE(fs().everything);
  add(R"({"operationType": "rename", "ns": {"db": "media", "coll": "a.files"},
          "to": {"db": "media", "coll": "b.files"}})");
  EXPECT_TRUE(events_.changes().buckets.at("a").everything);
  EXPECT_TRUE(events_.changes().buckets.at("b").everything);
  EXPECT_FALSE(events_.changes().everything);
}

TEST_F(ChangeEventsTest, EndsOfStreams_AreEverything) {
  for (const char* const event :
       {R"({"operationType": "invalidate"})",
        R"({"operationType": "dropDatabase", "ns": {"db": "media"}})",
        R"({"operationType": "rename", "ns": {"db": "media", "coll": "a.files"}})", R"({})",
        R"({"operationType": 5, "ns": {"db": "media", "coll": "fs.files"}})",
        R"({"operationType": "insert", "ns": "media.fs.files"})"}) {
    ChangeEvents events("media");
    events.add(must(bson::document_from_json(event)));
    EXPECT_TRUE(events.changes().everything) << event;
    EXPECT_FALSE(events.empty());
  }
}

TEST_F(ChangeEventsTest, IncompleteEvents_AreWholeBuckets) {
  for (const char* const event :
       {R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.files"}})",
        R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.files"},
            "documentKey": {"_id": 1}})",
        R"({"operationType": "delete", "ns": {"db": "media", "coll": "fs.directories"},
            "documentKey": 1})",
        R"({"operationType": "replace", "ns": {"db": "media", "coll": "fs.links"},
            "documentKey": {"_id": "a"}, "fullDocument": null})",
        R"({"operationType": "fromTheFuture", "ns": {"db": "media", "coll": "fs.files"}})"}) {
    ChangeEvents events("media");
    events.add(must(bson::document_from_json(event)));
    EXPECT_TRUE(events.changes().buckets.at("fs").everything) << event;
    EXPECT_FALSE(events.changes().everything) << event;
  }
}

TEST_F(ChangeEventsTest, WhatIsOfNoBucket_TouchesNothing) {
  add(R"({"operationType": "insert", "ns": {"db": "other", "coll": "fs.files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "filename": "a"}})");
  add(R"({"operationType": "dropDatabase", "ns": {"db": "other"}})");
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "people"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1}})");
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": ".files"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1}})");
  add(R"({"operationType": "insert", "ns": {"db": "media", "coll": "fs.chunks"},
          "documentKey": {"_id": 1}, "fullDocument": {"_id": 1, "files_id": 2}})");
  add(R"({"operationType": "drop", "ns": {"db": "media", "coll": "people"}})");
  EXPECT_TRUE(touches_nothing());
}

TEST_F(ChangeEventsTest, TooManyChanges_AreEverythingInTheBucket) {
  const bson::Document event = must(bson::document_from_json(
      R"({"operationType": "delete", "ns": {"db": "media", "coll": "fs.files"},
          "documentKey": {"_id": 1}})"));
  for (size_t i = 0; i <= kExternalChangesMax; ++i) events_.add(event);
  EXPECT_TRUE(fs().everything);
  EXPECT_THAT(fs().content, IsEmpty());
}

}  // namespace
}  // namespace gridmount::fuse
