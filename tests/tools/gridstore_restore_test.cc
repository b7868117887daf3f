// Goal: gridstore restore reports documents that the store refuses and damaged parts, and restores
// the rest. It restores the selected collections under the selected names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "command_line/exit_status.h"
#include "engine/bson/json.h"
#include "engine/wire/auth/user.h"
#include "tests/tools/dump_fixture.h"
#include "tests/tools/mongodump_archive.h"

namespace gridmount::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GridstoreRestore : public DumpTest {
 protected:
  // Returns documents as the bytes of a `.bson` file.
  static std::string bytes_of(const std::vector<bson::Document>& documents) {
    std::string bytes;
    for (const bson::Document& document : documents) {
      bytes.append(reinterpret_cast<const char*>(document.view().data()), document.view().size());
    }
    return bytes;
  }

  static std::string numbered(int32_t count) {
    std::vector<bson::Document> documents;
    documents.reserve(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) documents.push_back(document("_id", i));
    return bytes_of(documents);
  }

  Outcome restore(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"restore", "store.gfs", "--create"});
    return gridstore(std::move(arguments), input);
  }

  // Returns "name {key}" of the collection's indexes except the one on _id.
  std::vector<std::string> indexes(const std::string& collection) const {
    std::vector<std::string> shown;
    with_store([&](engine::Store& store) {
      const auto snapshot = must(store.snapshot());
      for (const auto& index :
           must(store.database("test")->collection(collection)->indexes(*snapshot))) {
        if (index.name == "_id_") continue;
        shown.push_back(index.name + " " + bson::to_json(index.keys, bson::JsonForm::kRelaxed));
      }
    });
    return shown;
  }

  // Returns "database.collection" of all collections, sorted.
  std::vector<std::string> collections() const {
    std::vector<std::string> names;
    with_store([&](engine::Store& store) {
      const auto snapshot = must(store.snapshot());
      for (const std::string& database : must(store.databases(*snapshot))) {
        for (const auto& info : must(store.database(database)->collections(*snapshot))) {
          names.push_back(database + "." + info.name);
        }
      }
    });
    return names;
  }
};

TEST_F(GridstoreRestore, ArchiveOfMongodump_ComesBack) {
  const Outcome outcome = restore({"--archive"}, mongodump_archive());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("restored 2 documents of 2 collections, 1 index; 0 failures\n"));
  EXPECT_THAT(documents_of("store.gfs", "worst"), ElementsAre(R"({ "_id" : 2, "level" : 3 })"));
  ASSERT_EQ(gridstore({"dump", "store.gfs"}).status, 0);
  EXPECT_EQ(read_file("dump/test/log+%221%22.metadata.json"), kMongodumpLogMetadata);
  EXPECT_EQ(read_file("dump/test/worst.metadata.json"), kMongodumpWorstMetadata);
}

TEST_F(GridstoreRestore, FileThatIsCutOff_NamesTheByteAndKeepsWhatWasBefore) {
  write_file("dump/test/a.bson", numbered(100).substr(0, 99 * 14 + 5));
  write_file("dump/test/a.metadata.json",
             R"({"indexes":[{"v":2,"key":{"x":1},"name":"x_1"}],"collectionName":"a"})");
  write_file("dump/test/b.bson", numbered(3));
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("`dump/test/a.bson`, byte 1386: the file ends in the middle "
                                     "of a document of 14 bytes\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("restored 102 documents of 2 collections, 1 index; 1 failure\n"));
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(99));
  EXPECT_THAT(documents_of("store.gfs", "b"), SizeIs(3));
}

TEST_F(GridstoreRestore, FileWithOtherDamage_NamesTheByte) {
  std::string bytes = numbered(3);
  bytes[14 + 4] = 0x77;  // an unknown type
  write_file("dump/test/a.bson", bytes);
  write_file("dump/test/b.bson", "text that is no BSON");
  write_file("dump/test/c.bson", std::string("\4\0\0\0", 4));
  write_file("dump/test/d.metadata.json", "{\"indexes\": [");
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("`dump/test/a.bson`, byte 14: the document is not valid: "),
                    HasSubstr("`dump/test/b.bson`, byte 0: 1954047348 is not the length"),
                    HasSubstr("`dump/test/c.bson`, byte 0: 4 is not the length"),
                    HasSubstr("`dump/test/d.metadata.json`: "), HasSubstr("4 failures\n")));
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(1));
}

TEST_F(GridstoreRestore, ArchiveThatIsCutOff_KeepsWhatWasBefore) {
  const std::string whole = mongodump_archive();
  // Truncated within the second document.
  const Outcome outcome = restore({"--archive"}, whole.substr(0, whole.rfind("level") - 3));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("standard input, byte "));
  EXPECT_THAT(documents_of("store.gfs", "log \"1\""), SizeIs(1));
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreRestore, CompressedFilesThatAreDamaged_AreErrors) {
  write_file("plain/test/a.bson", numbered(1000));
  ASSERT_EQ(shell("mkdir -p dump/test; gzip -c plain/test/a.bson > dump/test/a.bson.gz").status, 0);
  const std::string good = read_file("dump/test/a.bson.gz");
  EXPECT_THAT(restore({}).err, HasSubstr("`dump/test/a.bson.gz` is compressed; give --gzip"));
  EXPECT_THAT(restore({"plain", "--gzip"}).err,
              HasSubstr("is not compressed, although --gzip is given"));
  for (const size_t size : {size_t{0}, size_t{5}, good.size() / 2, good.size() - 1}) {
    write_file("dump/test/a.bson.gz", good.substr(0, size));
    const Outcome outcome = restore({"--gzip", "--drop"});
    EXPECT_EQ(outcome.status, 1) << size;
    EXPECT_THAT(outcome.err, HasSubstr("the compressed data end in the middle")) << size;
  }
  std::string damaged = good;
  damaged[good.size() - 6] = static_cast<char>(damaged[good.size() - 6] ^ 1);
  write_file("dump/test/a.bson.gz", damaged);
  EXPECT_THAT(restore({"--gzip", "--drop"}).err, HasSubstr("the compressed data are damaged"));
  write_file("dump/test/a.bson.gz", good);
  EXPECT_EQ(restore({"--gzip", "--drop"}).status, 0);
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(1000));
}

TEST_F(GridstoreRestore, WhatTheStoreRefuses_IsSaidAndPassedOver) {
  write_file("dump/test/a.bson", numbered(2));
  write_file("dump/test/a.metadata.json",
             R"({"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"},
                            {"v":2,"key":{"_fts":"text","_ftsx":1},"name":"words"},
                            {"v":2,"key":{"x":1},"name":"x_1"}]})");
  write_file("dump/test/b.bson", numbered(2));
  write_file("dump/test/b.metadata.json",
             R"({"options":{"clusteredIndex":{"key":{"_id":1}}},"indexes":[]})");
  write_file("dump/test/system.buckets.c.bson", numbered(2));
  write_file("dump/test/c.metadata.json",
             R"({"options":{"timeseries":{"timeField":"t"}},"indexes":[],"type":"timeseries"})");
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the index `words` of test.a is not restored: "),
                                 HasSubstr("the collection `test.b` is not restored: "),
                                 HasSubstr("clusteredIndex"), HasSubstr("timeseries"),
                                 HasSubstr("restored 2 documents of 1 collection, 1 index; 3 "
                                           "failures\n")));
  EXPECT_THAT(collections(), ElementsAre("test.a"));
}

TEST_F(GridstoreRestore, OptionsThatNoIndexHas_AreLeftOut) {
  write_file("dump/test/a.bson", numbered(2));
  write_file("dump/test/a.metadata.json",
             R"({"indexes":[{"v":2,"key":{"x":1},"name":"x_1","safe":null,"w":1}]})");
  EXPECT_EQ(restore({}).status, 0);
  EXPECT_THAT(indexes("a"), ElementsAre(R"(x_1 { "x" : 1 })"));
}

// mongodump keeps a view as metadata. A dump of system.views has the definitions as documents,
// which servers do not accept either.
TEST_F(GridstoreRestore, DefinitionsOfViews_AreNoCollection) {
  write_file("dump/test/system.views.bson",
             bytes_of({parsed(R"({"_id": "test.v", "viewOn": "a", "pipeline": []})")}));
  write_file("dump/test/a.bson", numbered(1));
  const Outcome refused = restore({});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot write to test.system.views, which defines views"));
  EXPECT_THAT(refused.err, HasSubstr("of 1 collection, 0 indexes; 1 failure\n"));
  write_file("dump/test/system.views.bson", "");
  EXPECT_EQ(restore({"--drop"}).status, 0);
}

TEST_F(GridstoreRestore, LegacyIndexes_AreConvertedIfAsked) {
  write_file("dump/test/a.bson", numbered(2));
  write_file("dump/test/a.metadata.json",
             R"({"indexes":[{"v":1,"key":{"_id":1},"name":"_id_"},
                            {"v":1,"key":{"s":true,"t":-2},"name":"s"},
                            {"v":1,"key":{"u":null,"w":0,"x":""},"name":"u"},
                            {"v":1,"key":{"h":"hashed"},"name":"h"},
                            {"v":1,"key":{"s":"","t":-2},"name":"same"}]})");
  const Outcome refused = restore({});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("the index `s` of test.a is not restored"));
  EXPECT_THAT(indexes("a"), ElementsAre(R"(h { "h" : "hashed" })"));
  const Outcome converted = restore({"--drop", "--convertLegacyIndexes"});
  EXPECT_EQ(converted.status, 0);
  EXPECT_THAT(converted.err,
              HasSubstr("skipping the index `same` of test.a: another index has the same keys"));
  EXPECT_THAT(indexes("a"),
              ElementsAre(R"(s { "s" : 1, "t" : -2 })", R"(u { "u" : 1, "w" : 1, "x" : 1 })",
                          R"(h { "h" : "hashed" })"));
}

TEST_F(GridstoreRestore, Validators_AreAskedUnlessBypassed) {
  write_file("dump/test/a.bson", bytes_of({parsed(R"({"_id": 1, "a": 1})"), parsed(R"({"_id": 2})"),
                                           parsed(R"({"_id": 3, "a": 1})")}));
  write_file("dump/test/a.metadata.json",
             R"({"options":{"validator":{"a":{"$exists":true}}},"indexes":[]})");
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("Document failed validation"),
                                 HasSubstr("restored 2 documents of 1 collection, 0 indexes; 1 "
                                           "failure\n")));
  EXPECT_EQ(restore({"--drop", "--bypassDocumentValidation"}).status, 0);
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(3));
}

TEST_F(GridstoreRestore, Duplicates_AreCountedAndEndItIfAsked) {
  create_store();
  insert("a", {document("_id", int32_t{30})});
  write_file("dump/test/a.bson", numbered(100));
  const Outcome stopped = restore({"--stopOnError"});
  EXPECT_EQ(stopped.status, 1);
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("E11000"), HasSubstr("the restore is not complete")));
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(31));
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("test.a exists; it keeps its options"),
                                 HasSubstr("test.a: 21 more failures\n"),
                                 HasSubstr("test.a: 69 documents, 31 failures\n")));
  // The first ten are reported one by one.
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1 + 10 + 1 + 1 + 1);
  EXPECT_EQ(restore({"--drop"}).status, 0);
  EXPECT_THAT(documents_of("store.gfs", "a"), SizeIs(100));
}

TEST_F(GridstoreRestore, Patterns_SayWhatIsRestoredAndHow) {
  for (const char* const name : {"x/a", "x/b.c", "y/a", "y/log_1", "y/log_2"}) {
    write_file("dump/" + std::string(name) + ".bson", numbered(1));
  }
  EXPECT_EQ(restore({"--nsInclude", "x.*", "--nsInclude=y.log*", "--nsExclude", "*_2", "dump",
                     "--nsFrom", "x.$name$", "--nsTo", "z.old-$name$"})
                .status,
            0);
  EXPECT_THAT(collections(), ElementsAre("y.log_1", "z.old-a", "z.old-b.c"));
  EXPECT_EQ(restore({"--db", "y", "--collection", "a"}).status, 0);
  EXPECT_THAT(collections(), testing::Contains("y.a"));
  const Outcome conflict = restore({"--nsFrom", "*.a", "--nsTo", "*.b.c"});
  EXPECT_EQ(conflict.status, 1);
  EXPECT_THAT(conflict.err, HasSubstr("`x.a` and `x.b.c` would both go to `x.b.c`"));
  EXPECT_EQ(restore({"--nsFrom", "*.a"}).status, 1);
  EXPECT_EQ(restore({"--nsInclude", "$a"}).status, 1);
  EXPECT_THAT(restore({"--nsInclude", "nothing.*"}).err, HasSubstr("nothing to restore"));
}

TEST_F(GridstoreRestore, PlacesOfADump_AreUnderstood) {
  write_file("dump/x/a.bson", numbered(1));
  write_file("dump/x/a.metadata.json", R"({"indexes":[],"collectionName":"a"})");
  write_file("dump/oplog.bson", numbered(1));
  write_file("dump/x/notes.txt", "text");
  EXPECT_EQ(restore({"--db", "y", "dump/x"}).status, 0);  // the database's own folder
  EXPECT_EQ(restore({"--db", "x"}).status, 0);            // the root
  EXPECT_EQ(restore({"dump/x/a.bson", "--db", "z", "--collection", "b c"}).status, 0);
  EXPECT_EQ(restore({"-", "--db", "w", "--collection", "stdin"}, numbered(2)).status, 0);
  EXPECT_THAT(collections(), ElementsAre("w.stdin", "x.a", "y.a", "z.b c"));
  const Outcome all = restore({"--drop"});
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.err, AllOf(HasSubstr("an oplog cannot be replayed"),
                             HasSubstr("don't know what to do with `dump/x/notes.txt`")));
  EXPECT_THAT(restore({"absent"}).err, HasSubstr("there is no dump at `absent`"));
  EXPECT_EQ(restore({"dump/x/notes.txt"}).status, 1);
  EXPECT_EQ(restore({"-"}).status, 1);
  EXPECT_EQ(restore({"dump", "--archive"}).status, 1);
}

TEST_F(GridstoreRestore, DryRun_ChangesNothing) {
  write_file("dump/x/a.bson", numbered(1));
  const Outcome outcome = restore({"--dryRun", "--nsFrom", "x.*", "--nsTo", "y.*"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("would restore x.a to y.a from `dump/x/a.bson`\n"),
                                 HasSubstr("nothing restored")));
  EXPECT_FALSE(exists("store.gfs"));
  EXPECT_EQ(gridstore({"restore", "store.gfs", "--dryRun"}).status,
            static_cast<int>(ExitStatus::kStoreNotFound));
}

TEST_F(GridstoreRestore, Users_ComeBackAllOrNone) {
  constexpr const char* kUser = R"({"_id": "test.%", "user": "%", "db": "test", "credentials":
      {"external": true}, "roles": [{"role": "#", "db": "test"}]})";
  const auto user = [&](const std::string& name, const std::string& role) {
    std::string text = kUser;
    for (size_t at = 0; (at = text.find('%')) != text.npos;) text.replace(at, 1, name);
    text.replace(text.find('#'), 1, role);
    return parsed(text);
  };
  const auto names = [&] {
    std::vector<std::string> found;
    with_store([&](engine::Store& store) {
      for (const auto& each : must(wire::UserDirectory(store).list(std::nullopt))) {
        found.push_back(each.name.name);
      }
    });
    return found;
  };
  write_file("dump/admin/system.users.bson", bytes_of({user("a", "read"), user("b", "read")}));
  write_file("dump/admin/system.version.bson",
             bytes_of({parsed(R"({"_id": "authSchema", "currentVersion": 5})")}));
  EXPECT_EQ(restore({}).status, 0);
  write_file("dump/admin/system.users.bson", bytes_of({user("b", "read"), user("c", "own")}));
  const Outcome own_role = restore({"--drop"});
  EXPECT_EQ(own_role.status, 1);
  EXPECT_THAT(own_role.err, AllOf(HasSubstr("Could not find role: own@test"),
                                  HasSubstr("no users are restored, because some documents of "
                                            "admin.system.users cannot be restored"),
                                  HasSubstr("2 failures\n")));
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  const std::string whole = bytes_of({user("b", "read"), user("c", "read")});
  write_file("dump/admin/system.users.bson", whole.substr(0, whole.size() - 1));
  EXPECT_EQ(restore({"--drop"}).status, 1);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  write_file("dump/admin/system.users.bson", whole);
  EXPECT_EQ(restore({"--drop"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  write_file("dump/admin/system.version.bson",
             bytes_of({parsed(R"({"_id": "authSchema", "currentVersion": 1})")}));
  const Outcome old = restore({"--drop"});
  EXPECT_EQ(old.status, 1);
  EXPECT_THAT(old.err, HasSubstr("version 1 (authSchema)"));
}

TEST_F(GridstoreRestore, NamesThatNoStoreTakes_AreRefused) {
  write_file("dump/a b/c.bson", numbered(1));
  write_file("dump/test/..bson", numbered(1));
  write_file("dump/test/%zz.bson", numbered(1));
  write_file("dump/test/good.bson", numbered(1));
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("Invalid namespace"), HasSubstr("%zz.bson")));
  EXPECT_THAT(collections(), ElementsAre("test.good"));
}

// The name of the file is truncated, and there is no file of documents.
TEST_F(GridstoreRestore, MetadataWithoutACollectionsName_IsNamed) {
  const std::string file = std::string(208, 'a') + "%24" + std::string(27, 'b') + ".metadata.json";
  write_file("dump/test/" + file, "{}");
  const Outcome outcome = restore({});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr(file + "`: the collection's name is neither"));
}

TEST_F(GridstoreRestore, IntoAStoreInUse_IsRefused) {
  create_store();
  write_file("dump/test/a.bson", numbered(1));
  with_store([&](engine::Store&) {
    const Outcome outcome = restore({});
    EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kStoreLocked));
    EXPECT_THAT(outcome.err, HasSubstr("is in use by process "));
  });
  const Outcome absent = gridstore({"restore", "absent.gfs"});
  EXPECT_EQ(absent.status, static_cast<int>(ExitStatus::kStoreNotFound));
  EXPECT_THAT(absent.err, HasSubstr("; 'gridstore restore --create' makes one"));
}

}  // namespace
}  // namespace gridmount::tests
