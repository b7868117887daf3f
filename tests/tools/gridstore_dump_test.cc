// Goal: gridstore dump writes what mongodump writes, restore brings all of it back, and a dump that
// fails leaves nothing that looks complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "command_line/exit_status.h"
#include "tests/tools/dump_fixture.h"
#include "tests/tools/mongodump_archive.h"

namespace gridmount::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

class GridstoreDump : public DumpTest {
 protected:
  // Makes the store that is in the archive of mongodump_archive.h.
  void create_small_store() const {
    with_new_store();
    create("log \"1\"",
           R"({"capped": true, "size": 4096, "max": 3, "validator": {"level": {"$gt": 0}}})");
    insert("log \"1\"", {parsed(R"({"_id": 1, "level": 2})"), parsed(R"({"_id": 2, "level": 3})")});
    index("log \"1\"", R"({"key": {"level": -1}, "name": "by level", "sparse": true})");
    create("worst", R"({"viewOn": "log \"1\"", "pipeline": [{"$match": {"level": 3}}]})");
  }

  void with_new_store() const {
    local::OpenOptions options;
    options.create = true;
    must(local::open(store_path(), options));
  }

  // Restores into a new store, whose dump must be the same.
  void expect_comes_back(std::vector<std::string> arguments, const std::string& input = "") const {
    std::filesystem::remove_all(folder() / "copy.gfs");
    std::filesystem::remove_all(folder() / "again");
    arguments.insert(arguments.begin(), {"restore", "copy.gfs", "--create"});
    const Outcome restored = gridstore(arguments, input);
    EXPECT_EQ(restored.status, 0) << restored.err;
    EXPECT_THAT(restored.err, HasSubstr("; 0 failures\n"));
    EXPECT_EQ(gridstore({"check", "copy.gfs"}).status, 0);
    EXPECT_EQ(gridstore({"dump", "copy.gfs", "--out", "again"}).status, 0);
    EXPECT_EQ(files_of("again"), files_of("dump"));
  }
};

TEST_F(GridstoreDump, Archive_IsMongodumpsByteByByte) {
  create_small_store();
  const Outcome outcome = gridstore({"dump", "store.gfs", "--archive"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("dumped 2 documents of 2 collections; 0 failures"));
  // Everything except the header, which names the program.
  const auto without_header = [](const std::string& archive) {
    uint32_t size = 0;
    std::memcpy(&size, archive.data() + 4, sizeof(size));
    return archive.substr(0, 4) + archive.substr(4 + size);
  };
  EXPECT_EQ(without_header(outcome.out), without_header(mongodump_archive()));
  EXPECT_THAT(outcome.out.substr(0, 150),
              AllOf(HasSubstr("concurrent_collections"), HasSubstr("gridstore ")));
}

TEST_F(GridstoreDump, Folder_IsMongodumpsByteByByte) {
  create_small_store();
  ASSERT_EQ(gridstore({"dump", "store.gfs"}).status, 0);
  const auto files = files_of("dump");
  ASSERT_THAT(files, SizeIs(3));
  EXPECT_EQ(files.at("test/log+%221%22.metadata.json"), kMongodumpLogMetadata);
  EXPECT_EQ(files.at("test/worst.metadata.json"), kMongodumpWorstMetadata);
  const std::string documents = files.at("test/log+%221%22.bson");
  EXPECT_THAT(mongodump_archive(), HasSubstr(documents));
  EXPECT_EQ(documents.size(), 50U);
  EXPECT_THAT(read_file("dump/prelude.json"), HasSubstr(R"({"ServerVersion":"7.0.0",)"));
}

TEST_F(GridstoreDump, Everything_ComesBack) {
  create_rich_store();
  ASSERT_EQ(gridstore({"dump", "store.gfs", "--quiet"}).err, "");
  EXPECT_THAT(files_of("dump"), Not(Contains(Key(HasSubstr("local/")))));
  EXPECT_THAT(files_of("dump"), Contains(Key("admin/system.users.bson")));
  expect_comes_back({});
  EXPECT_EQ(gridstore({"dump", "store.gfs", "--gzip", "--out", "small"}).status, 0);
  EXPECT_LT(files_of("small").at("test/indexed.bson.gz").size(),
            files_of("dump").at("test/indexed.bson").size());
  expect_comes_back({"small", "--gzip"});
  EXPECT_EQ(gridstore({"dump", "store.gfs", "--archive=all.archive"}).status, 0);
  expect_comes_back({"--archive=all.archive"});
  const Outcome piped = gridstore({"dump", "store.gfs", "--archive", "--gzip"});
  expect_comes_back({"--archive", "--gzip"}, piped.out);
}

TEST_F(GridstoreDump, OfADatabaseOrCollection_IsThatAlone) {
  create_rich_store();
  EXPECT_EQ(gridstore({"dump", "store.gfs", "--db", "other", "--out", "one"}).status, 0);
  EXPECT_THAT(files_of("one"),
              ElementsAre(Key("other/things.bson"), Key("other/things.metadata.json")));
  EXPECT_TRUE(exists("one/other/prelude.json"));
  EXPECT_EQ(gridstore({"dump", "store.gfs", "--db", "local", "--out", "own"}).status, 0);
  EXPECT_THAT(files_of("own"), SizeIs(2));
  EXPECT_EQ(gridstore({"dump", "store.gfs", "--db", "test", "--collection", "sl/ash", "--out", "c"})
                .status,
            0);
  EXPECT_THAT(files_of("c"),
              ElementsAre(Key("test/sl%2Fash.bson"), Key("test/sl%2Fash.metadata.json")));
}

TEST_F(GridstoreDump, OfWhatIsNotThere_IsRefused) {
  create_store();
  const auto expect_refused = [&](std::vector<std::string> arguments, const std::string& word) {
    arguments.insert(arguments.begin(), {"dump", "store.gfs"});
    const Outcome outcome = gridstore(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr(word));
    EXPECT_THAT(names(), IsEmpty());
  };
  expect_refused({"--db", "absent"}, "there is no database `absent`");
  expect_refused({"--db", "test", "--collection", "absent"},
                 "there is no collection `test.absent`");
  expect_refused({"--collection", "a"}, "--collection needs --db");
  expect_refused({"--out", "-"}, "--archive writes to stdout");
  expect_refused({"--out", "a", "--archive=b"}, "does not go together");
  EXPECT_EQ(gridstore({"dump", "absent"}).status, static_cast<int>(ExitStatus::kStoreNotFound));
}

TEST_F(GridstoreDump, OfAStoreInUse_IsOfOneMoment) {
  create_small_store();
  with_store([&](engine::Store& store) {
    const auto transaction = must(store.begin());
    must(store.database("test")->collection("new")->insert(*transaction,
                                                           document("_id", int32_t{1})));
    // The dump neither waits for the writer nor sees its uncommitted changes.
    EXPECT_EQ(gridstore({"dump", "store.gfs"}).status, 0);
    EXPECT_THAT(files_of("dump"), SizeIs(3));
    must(transaction->commit());
    EXPECT_EQ(gridstore({"dump", "store.gfs"}).status, 0);
    EXPECT_THAT(files_of("dump"), SizeIs(5));
  });
}

TEST_F(GridstoreDump, OfDamagedDocuments_HasTheOthersAndSaysSo) {
  create_store();
  std::vector<bson::Document> documents;
  documents.reserve(3);
  for (int32_t i = 0; i < 3; ++i) {
    documents.push_back(document("_id", "document " + std::to_string(i)));
  }
  insert("a", documents);
  std::string data = read_file("store.gfs/data.mdb");
  // The text is in the record, on each page that has or had it, and not in the index on _id.
  const std::string record("_id\0\x0B\0\0\0document 1", 18);
  ASSERT_NE(data.find(record), std::string::npos);
  for (size_t at = 0; (at = data.find(record, at)) != std::string::npos;) data[at + 8] = 'D';
  write_file("store.gfs/data.mdb", data);
  const Outcome outcome = gridstore({"dump", "store.gfs"});
  EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kStoreDamaged));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("test.a"), HasSubstr("; 1 failure\n")));
  const std::string kept = files_of("dump").at("test/a.bson");
  EXPECT_THAT(kept,
              AllOf(HasSubstr("document 0"), HasSubstr("document 2"), Not(HasSubstr("ocument 1"))));
}

TEST_F(GridstoreDump, ThatFindsNoRoom_LeavesNothingThatLooksComplete) {
  create_rich_store();
  const Outcome piped = shell("$G dump store.gfs --archive > /dev/full");
  EXPECT_EQ(piped.status, static_cast<int>(ExitStatus::kOutOfDiskSpace)) << piped.err;
  EXPECT_THAT(piped.err,
              AllOf(HasSubstr("writing standard output: "), HasSubstr("the dump is not complete")));
  // A limit of 64 KiB per file. The chunks do not fit.
  const std::string limited = "trap '' XFSZ; ulimit -f 128; $G dump store.gfs ";
  const Outcome archive = shell(limited + "--archive=a");
  EXPECT_EQ(archive.status, static_cast<int>(ExitStatus::kOutOfDiskSpace)) << archive.err;
  EXPECT_THAT(names(), IsEmpty());
  const Outcome files = shell(limited);
  EXPECT_EQ(files.status, static_cast<int>(ExitStatus::kOutOfDiskSpace)) << files.err;
  EXPECT_THAT(files.err, HasSubstr("fs.chunks.bson"));
  EXPECT_THAT(files_of("dump"),
              AllOf(Contains(Key("admin/system.users.bson")),
                    Not(Contains(Key(HasSubstr("chunks")))), Not(Contains(Key(HasSubstr("/."))))));
  EXPECT_FALSE(exists("dump/prelude.json"));
}

TEST_F(GridstoreDump, ToANamedPipe_WritesIntoIt) {
  create_rich_store();
  const Outcome outcome = shell(
      "mkfifo pipe && (cat pipe > copy & $G dump store.gfs --archive=pipe; s=$?; wait; exit $s)");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_fifo(folder() / "pipe"));
  ASSERT_EQ(gridstore({"dump", "store.gfs", "--archive=file"}).status, 0);
  EXPECT_EQ(read_file("copy").size(), read_file("file").size());
}

TEST_F(GridstoreDump, IntoAFolderThatIsNone_IsRefused) {
  create_small_store();
  write_file("file", "text");
  const Outcome outcome = gridstore({"dump", "store.gfs", "--out", "file"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("making the folder `file/test`"));
  EXPECT_NE(gridstore({"dump", "store.gfs", "--archive=absent/a"}).status, 0);
}

}  // namespace
}  // namespace gridmount::tests
