// Goal: gridstore check names each kind of damage with the bucket and the file, and shows it in the
// exit status.
// Method: stores damaged on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int32_t kChunkBytes = 100;

class GridstoreCheck : public StoreTest {
 protected:
  // Makes two files with small chunks: "whole" of 350 bytes, "other" of 120.
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    gridfs::BucketOptions options;
    options.chunk_bytes = kChunkBytes;
    with_bucket(
        [](gridfs::Bucket& bucket) {
          gridfs::UploadOptions with_id;
          with_id.id = bson::Value("W");
          upload(bucket, "dir/whole", pattern_bytes(350), with_id);
          upload(bucket, "other", pattern_bytes(120));
        },
        options);
  }

  static bson::Document chunk_key(int32_t n) {
    bson::Builder builder;
    builder.append("files_id", "W").append("n", n);
    return std::move(builder).finish();
  }

  static bson::Document set(const bson::Document& fields) {
    bson::Builder builder;
    builder.append("$set", fields);
    return std::move(builder).finish();
  }

  void update(const std::string& collection, const bson::Document& filter,
              const bson::Document& fields) const {
    change([&](engine::Database& database, engine::Transaction& transaction) {
      auto result = must(database.collection(collection)->update(transaction, filter, set(fields)));
      EXPECT_EQ(result.modified, 1);
    });
  }

  void update_whole(const bson::Document& fields) const {
    update("fs.files", document("_id", "W"), fields);
  }

  void insert(const std::string& collection, const bson::Document& inserted) const {
    change([&](engine::Database& database, engine::Transaction& transaction) {
      must(database.collection(collection)->insert(transaction, inserted));
    });
  }

  void remove_chunk(int32_t n) const {
    change([&](engine::Database& database, engine::Transaction& transaction) {
      EXPECT_EQ(must(database.collection("fs.chunks")->remove(transaction, chunk_key(n), false)),
                1);
    });
  }

  // Expects that the check finds content damage and prints `lines` and nothing else.
  void expect_findings(const std::vector<std::string>& lines) const {
    Outcome outcome = gridstore_check();
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_EQ(outcome.err, "");
    std::string found;
    for (size_t begin = 0; outcome.out.compare(begin, 9, "content: ") == 0;) {
      size_t end = outcome.out.find('\n', begin) + 1;
      found += outcome.out.substr(begin, end - begin);
      begin = end;
    }
    std::string expected;
    for (const std::string& line : lines) expected += "content: test.fs: " + line + "\n";
    EXPECT_EQ(found, expected);
    EXPECT_THAT(outcome.out, EndsWith("0 problems in the structure, " +
                                      std::to_string(lines.size()) + " in the content\n"));
  }

  const std::string kWhole = "file \"W\" `dir/whole`: ";
};

TEST_F(GridstoreCheck, SoundStore_IsReportedSo) {
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 bucket, 2 files, 6 chunks with 470 bytes"),
                                 EndsWith("\nno problems\n")));
}

// The last commits before a kill are only in `pending`, so even a check must first write.
TEST_F(GridstoreCheck, OwnerWasKilled_IsRecovered) {
  for (const char* const command : {"check", "stats", "backup"}) {
    const pid_t owner = ::fork();
    ASSERT_GE(owner, 0);
    if (owner == 0) {
      const auto store = must(local::open(store_path(), {}));
      const auto collection = store->database("test")->collection("things");
      for (int32_t i = 0; i < 30; ++i) {
        const auto transaction = must(store->begin(engine::TransactionKind::kShort));
        must(collection->insert(*transaction, document("i", i)));
        must(transaction->commit());
      }
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(owner, &status, 0), owner);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::vector<std::string> arguments{command, store_path()};
    if (arguments[0] == "backup") arguments.push_back(folder() / "copy.gfs");
    const Outcome outcome = run({GRIDSTORE, arguments, folder(), {}, {}});
    EXPECT_EQ(outcome.status, 0) << command << ": " << outcome.err;
  }
  with_store([](engine::Store& store) {
    const auto snapshot = must(store.snapshot());
    EXPECT_EQ(must(store.database("test")->collection("things")->count(*snapshot, bson::View())),
              90);
  });
}

TEST_F(GridstoreCheck, MissingChunks) {
  remove_chunk(1);
  expect_findings(
      {kWhole + "missing chunks: 1", kWhole + "length is 350, but its chunks hold 250 bytes"});
  remove_chunk(2);
  remove_chunk(3);
  expect_findings(
      {kWhole + "missing chunks: 1 to 3", kWhole + "length is 350, but its chunks hold 100 bytes"});
}

TEST_F(GridstoreCheck, MissingChunkOfASparseFile_IsAHole) {
  update_whole(document("metadata.sparse", true));
  change([](engine::Database& database, engine::Transaction& transaction) {
    bson::Builder unset;
    unset.append("$unset", document("md5", ""));
    must(database.collection("fs.files")
             ->update(transaction, document("_id", "W"), std::move(unset).finish()));
  });
  remove_chunk(1);
  remove_chunk(3);
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  // The md5 of a sparse file includes its zeros.
  update_whole(document("md5", "0123456789abcdef0123456789abcdef"));
  outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("md5 is 0123456789abcdef0123456789abcdef, but"));
}

// Hashing these zeros would take weeks.
TEST_F(GridstoreCheck, Md5OfAHugeHole_IsNotChecked) {
  bson::Builder file;
  file.append("_id", "S").append("length", int64_t{1} << 50).append("chunkSize", 1 << 20);
  file.append("uploadDate", bson::Date{0}).append("md5", "0123456789abcdef0123456789abcdef");
  file.append("filename", "hole").append("metadata", document("sparse", true));
  insert("fs.files", std::move(file).finish());
  const Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_THAT(outcome.out,
              StartsWith("notice: test.fs: file \"S\" `hole`: its md5 was not checked, "
                         "because the holes are too large\n"));
}

TEST_F(GridstoreCheck, WrongNumberOfStoredChunks) {
  update_whole(document("metadata.storedChunks", int64_t{7}));
  EXPECT_EQ(gridstore_check().status, 0) << "of a file that is not sparse it says nothing";
  update_whole(document("metadata.sparse", true));
  expect_findings({kWhole + "metadata.storedChunks is 7, but 4 of its chunks are there"});
  update_whole(document("metadata.storedChunks", "four"));
  expect_findings({kWhole + "metadata.storedChunks is \"four\", but 4 of its chunks are there"});
  update_whole(document("metadata.storedChunks", 4.0));
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreCheck, ChunksOfAWrongSize) {
  std::string data = pattern_bytes(60);
  bson::Builder shorter;
  shorter.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(data.data()), 60});
  update("fs.chunks", chunk_key(2), std::move(shorter).finish());
  expect_findings({kWhole + "chunks of a wrong size: 2 is short (60 bytes instead of 100)",
                   kWhole + "length is 350, but its chunks hold 310 bytes"});
  bson::Builder longer;
  longer.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(data.data()), 51});
  update("fs.chunks", chunk_key(3), std::move(longer).finish());
  expect_findings({kWhole + "chunks of a wrong size: 2 is short (60 bytes instead of 100), "
                            "3 is too long (51 bytes instead of 50)",
                   kWhole + "length is 350, but its chunks hold 311 bytes"});
}

TEST_F(GridstoreCheck, WrongLength) {
  update_whole(document("length", int64_t{250}));
  expect_findings({kWhole + "chunks of a wrong size: 2 is too long (100 bytes instead of 50)",
                   kWhole + "chunks beyond the end: 3",
                   kWhole + "length is 250, but its chunks hold 350 bytes"});
  update_whole(document("length", int64_t{-1}));
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("content: test.fs: " + kWhole));
  EXPECT_THAT(outcome.out, HasSubstr("length"));
  EXPECT_THAT(outcome.out,
              HasSubstr("4 chunks could not be checked without a usable files document"));
}

TEST_F(GridstoreCheck, WrongMd5) {
  update_whole(document("md5", "0123456789abcdef0123456789abcdef"));
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out,
              StartsWith("content: test.fs: " + kWhole +
                         "md5 is 0123456789abcdef0123456789abcdef, but the content's is "));
  update_whole(document("md5", "no digest"));
  expect_findings({kWhole + "md5 is not 32 hexadecimal digits"});
  // The same digest in capitals, or no digest, is not damage.
  update_whole(document("md5", bson::Value()));
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreCheck, ChangedByte_IsFoundByTheMd5) {
  std::string data = pattern_bytes(100);
  data[50] = static_cast<char>(data[50] ^ 1);
  bson::Builder changed;
  changed.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(data.data()), 100});
  update("fs.chunks", chunk_key(0), std::move(changed).finish());
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, StartsWith("content: test.fs: " + kWhole + "md5 is "));
}

TEST_F(GridstoreCheck, OrphanChunks) {
  bson::Builder orphan;
  orphan.append("files_id", int32_t{5})
      .append("n", int32_t{0})
      .append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>("x"), 1});
  insert("fs.chunks", std::move(orphan).finish());
  expect_findings({"file 5: 1 orphan chunk: there is no files document"});
  change([](engine::Database& database, engine::Transaction& transaction) {
    EXPECT_EQ(
        must(database.collection("fs.files")->remove(transaction, document("_id", "W"), false)), 1);
  });
  expect_findings({"file 5: 1 orphan chunk: there is no files document",
                   "file \"W\": 4 orphan chunks: there is no files document"});
}

TEST_F(GridstoreCheck, DuplicateChunksAndMissingIndexes) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    must(database.collection("fs.chunks")->drop_index(transaction, "files_id_1_n_1"));
    must(database.collection("fs.files")->drop_index(transaction, "filename_1_uploadDate_1"));
  });
  std::string data = pattern_bytes(100);
  bson::Builder again;
  again.append("files_id", "W").append("n", int32_t{1});
  again.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(data.data()), 100});
  insert("fs.chunks", std::move(again).finish());
  expect_findings({"fs.files lacks its index {filename: 1, uploadDate: 1}",
                   "fs.chunks lacks its index {files_id: 1, n: 1}, unique",
                   kWhole + "several chunks with the same n: 1"});
}

TEST_F(GridstoreCheck, IndexesOfADriver_WithOtherNumbers_Serve) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    auto chunks = database.collection("fs.chunks");
    must(chunks->drop_index(transaction, "files_id_1_n_1"));
    engine::IndexDefinition index;
    index.name = "drivers";
    bson::Builder keys;
    keys.append("files_id", 1.0).append("n", int64_t{1});
    index.keys = std::move(keys).finish();
    index.unique = true;
    must(chunks->create_index(transaction, index));
  });
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreCheck, UnusableChunk) {
  update("fs.chunks", chunk_key(0), document("data", "text"));
  expect_findings({kWhole + "unusable chunks: 0 without binary data",
                   kWhole + "length is 350, but its chunks hold 250 bytes"});
}

TEST_F(GridstoreCheck, FilesDocumentWithoutUploadDate) {
  update_whole(document("uploadDate", "yesterday"));
  expect_findings({kWhole + "uploadDate is missing or not a date"});
}

TEST_F(GridstoreCheck, DetachedFile_IsMentionedAndNoDamage) {
  with_bucket([](gridfs::Bucket& bucket) {
    auto transaction = must(bucket.store().begin());
    must(bucket.detach(*transaction, bson::Value("W")));
    must(transaction->commit());
  });
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("notice: test.fs: file \"W\": was deleted or not completed; "
                                     "the next mount or put will remove its 4 chunks\n"));
  write_file("new", "x");
  EXPECT_EQ(gridfiles({"put", "new"}).status, 0);
  outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, Not(HasSubstr("notice: ")));
  EXPECT_THAT(outcome.out, HasSubstr("2 files, 3 chunks"));
}

TEST_F(GridstoreCheck, GarbageOfAFileThatWasCut_IsMentionedAndNoDamage) {
  bson::Builder cut;
  cut.append("length", int64_t{150}).append("md5", bson::Value());
  update_whole(std::move(cut).finish());
  std::string data = pattern_bytes(50);
  bson::Builder rest;
  rest.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(data.data()), 50});
  update("fs.chunks", chunk_key(1), std::move(rest).finish());
  with_bucket([](gridfs::Bucket& bucket) {
    auto transaction = must(bucket.store().begin());
    must(bucket.record_truncated(*transaction, bson::Value("W"), 2, 4));
    must(transaction->commit());
  });
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_THAT(outcome.out, StartsWith("notice: test.fs: " + kWhole +
                                      "was cut; the next mount or put will remove its 2 "
                                      "chunks beyond the end\nread "));
  // Data behind the recorded range is still damage.
  bson::Builder orphan;
  orphan.append("files_id", "W").append("n", int32_t{4}).append("data", data);
  insert("fs.chunks", std::move(orphan).finish());
  EXPECT_EQ(gridstore_check().status, 2);
}

TEST_F(GridstoreCheck, FolderWithoutParent) {
  bson::Builder folder;
  folder.append("parent", "gone/away").append("name", "child");
  insert("fs.directories", std::move(folder).finish());
  expect_findings({"the directory `gone/away/child` is in `gone/away`, which has no document"});
}

TEST_F(GridstoreCheck, Links_OfFilesThatAreGone_AndNumbersOfThem) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    engine::IndexDefinition by_file;
    by_file.keys = document("file", int32_t{1});
    must(database.collection("fs.links")->create_index(transaction, by_file));
    bson::Builder link;
    link.append("_id", "away").append("file", "gone");
    must(database.collection("fs.links")->insert(transaction, std::move(link).finish()));
    bson::Builder another;
    another.append("_id", "another").append("file", "W");
    must(database.collection("fs.links")->insert(transaction, std::move(another).finish()));
  });
  const Outcome before = gridstore_check();
  EXPECT_EQ(before.status, 2);
  EXPECT_THAT(before.out, HasSubstr("the name `away` leads to a file that is gone"));
  EXPECT_THAT(before.out, HasSubstr("\"W\" records 0 additional names, but there is 1"));
  EXPECT_EQ(gridstore_check({"--repair"}).status, 0);
  const Outcome after = gridstore_check();
  EXPECT_EQ(after.status, 0) << after.out;
}

TEST_F(GridstoreCheck, OtherDatabasesAndBuckets_AreCheckedToo) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    must(database.collection("photos.chunks")
             ->insert(transaction, document("files_id", int32_t{1})));
  });
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("content: test.photos: file 1: 1 orphan chunk"));
  outcome = gridstore_check({"--db", "test"});
  EXPECT_EQ(outcome.status, 2);
  outcome = gridstore_check({"--db", "nothing"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no database `nothing`"));
}

TEST_F(GridstoreCheck, Json_OneDocumentPerLine) {
  remove_chunk(1);
  Outcome outcome = gridstore_check({"--json"});
  EXPECT_EQ(outcome.status, 2);
  std::istringstream lines(outcome.out);
  std::vector<bson::Document> documents;
  for (std::string line; std::getline(lines, line);) {
    documents.push_back(must(bson::document_from_json(line)));
  }
  ASSERT_EQ(documents.size(), 3u);
  EXPECT_EQ(documents[0].find("kind")->as_string(), "content");
  EXPECT_EQ(documents[0].find("database")->as_string(), "test");
  EXPECT_EQ(documents[0].find("bucket")->as_string(), "fs");
  EXPECT_EQ(documents[0].find("file")->as_string(), "W");
  EXPECT_EQ(documents[0].find("filename")->as_string(), "dir/whole");
  EXPECT_EQ(documents[0].find("problem")->as_string(), "missing chunks: 1");
  EXPECT_EQ(documents[2].find("kind")->as_string(), "summary");
  EXPECT_EQ(documents[2].find("contentProblems")->integral(), 2);
}

// A byte of a record is changed directly on the disk.
TEST_F(GridstoreCheck, FlippedByteOnDisk_IsStructureDamage) {
  const std::string kNeedle = pattern_bytes(350).substr(110, 40);
  std::string bytes = read_file("store.gfs/data.mdb");
  size_t found = 0;
  for (size_t at = bytes.find(kNeedle); at != std::string::npos; at = bytes.find(kNeedle, at + 1)) {
    bytes[at + 7] = static_cast<char>(bytes[at + 7] ^ 0x10);
    ++found;
  }
  // The chunk is in the file at least once. Older versions of its page may hold it too.
  ASSERT_GE(found, 1u);
  write_file("store.gfs/data.mdb", bytes);
  Outcome outcome = gridstore_check();
  EXPECT_EQ(outcome.status, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("structure: "));
  EXPECT_THAT(outcome.out, HasSubstr("fs.chunks"));
  // The check also names the file of the chunk.
  EXPECT_THAT(outcome.out, HasSubstr(kWhole + "missing chunks: 1"));
  // Reading that file fails. It never returns wrong bytes.
  outcome = gridfiles({"--local", "-", "get", "dir/whole"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(pattern_bytes(350), StartsWith(outcome.out));
}

}  // namespace
}  // namespace gridmount::tests
