// Goal: each promise of file.h about one file holds.
// Method: a real store. After each commit the test reads the bucket's documents without the code
// under test and checks every rule of the specification (BucketFixture::problems).

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "gridfs/bucket/chunk_size.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;

constexpr char kMd5OfNothing[] = "d41d8cd98f00b204e9800998ecf8427e";

class FileTest : public BucketFixture {
 protected:
  std::unique_ptr<FileTable> table(FileTableOptions options = {}) {
    return FileTable::create(bucket(), std::move(options));
  }
};

TEST_F(FileTest, Open_UnknownId_FileNotFound) {
  const auto files = table();
  EXPECT_EQ(code_of(files->open(bson::Value(bson::ObjectId::generate()))), kFileNotFound);
}

TEST_F(FileTest, Open_Twice_IsTheSameFile) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto first = must(files->open(id));
  EXPECT_EQ(first, must(files->open(id)));
  EXPECT_EQ(first, files->find(id));
}

// A chunk that is written anew gets another record.
TEST_F(FileTest, SmallChanges_LeaveTheRecordOfTheChunk) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  const auto record = [&] {
    const auto snapshot = must(bucket().store().snapshot());
    engine::FindOptions options;
    options.show_record_id = true;
    const auto cursor = must(bucket().chunks().find(*snapshot, bson::View(), options));
    const auto chunk = must(cursor->next());
    EXPECT_TRUE(chunk.has_value());
    return chunk ? (*chunk)["$recordId"].integral() : std::nullopt;
  };
  const auto change = [&](int64_t offset, const std::string& data, std::string& content) {
    must(write(*file, offset, data));
    content.resize(std::max(content.size(), static_cast<size_t>(offset) + data.size()));
    content.replace(static_cast<size_t>(offset), data.size(), data);
    must(file->flush());
    EXPECT_EQ(must(download(id)), content);
    EXPECT_THAT(problems(), IsEmpty());
  };
  std::string content;
  change(0, std::string(100'000, 'a'), content);
  const auto first = record();
  change(5000, std::string(10, 'b'), content);
  change(100'000, std::string(80, 'c'), content);
  change(8192, std::string(4096, 'd'), content);
  EXPECT_EQ(record(), first);
  must(file->truncate(99'000, TimeUpdate::kNow));
  content.resize(99'000);
  change(0, "e", content);
  EXPECT_NE(record(), first) << "a chunk that became shorter is written anew";
}

TEST_F(FileTest, Find_NobodyHasItOpen_IsNull) {
  const auto files = table();
  const bson::Value id = create("a");
  must(files->open(id)).reset();
  EXPECT_EQ(files->find(id), nullptr);
}

// Transactions that wait for each other share one commit. Here the file is removed and then opened,
// and a third transaction delays the common commit.
TEST_F(FileTest, Open_RemovedButNotCommitted_WaitsUntilItIs) {
  const auto files = table();
  // Returns true if open() waits for the commit of its group, which another writer delays. On a
  // busy machine the group may end before that writer comes.
  const auto waits_for_its_group = [&] {
    const bson::Value id = create("a");
    auto removal = must(bucket().store().begin());
    must(files->remove(*removal, id));
    std::promise<std::optional<ErrorCode>> opened;
    std::future<std::optional<ErrorCode>> outcome = opened.get_future();
    std::thread opening([&] { opened.set_value(code_of(files->open(id))); });
    std::this_thread::sleep_for(milliseconds(100));  // until it is in the queue
    bool waits = false;
    std::thread last([&] {
      const auto turn = must(bucket().store().begin());
      waits = outcome.wait_for(milliseconds(200)) == std::future_status::timeout;
    });
    std::this_thread::sleep_for(milliseconds(100));
    must(removal->commit());
    files->after_commit();
    last.join();
    opening.join();
    EXPECT_EQ(outcome.get(), kFileNotFound);
    return waits;
  };
  bool waited = false;
  for (int attempt = 0; attempt < 20 && !waited; ++attempt) waited = waits_for_its_group();
  EXPECT_TRUE(waited) << "did not wait for the commit";
}

// If the file counted as removed, its uncommitted changes would be lost with the last holder.
TEST_F(FileTest, Remove_IsRolledBackBeforeAnotherChange_TheFileKeepsItsChanges) {
  const auto files = table();
  const bson::Value id = create("a");
  auto file = must(files->open(id));
  must(write(*file, 0, "hello"));
  {
    const RemovalScope removals(*files);
    const auto transaction = must(bucket().store().begin());
    must(files->remove(*transaction, id));
  }
  files->after_commit();  // of another change on this thread
  file.reset();
  must(files->flush_all(engine::Durability::kCommitted));
  EXPECT_EQ(must(download(id)), "hello");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Write_SmallAndFlush_OneCommitWithMd5) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "hello"));
  EXPECT_EQ(read_all(*file), "hello");
  EXPECT_EQ(this->file(id).length, 0) << "committed too early";
  must(file->flush());
  EXPECT_EQ(this->file(id).length, 5);
  EXPECT_EQ(this->file(id).md5, md5_of("hello"));
  EXPECT_EQ(must(download(id)), "hello");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Write_KeepsUnknownFieldsAndMetadata) {
  const bson::Value id(bson::ObjectId::generate());
  bson::Builder document;
  document.append("_id", id).append("length", 0.0).append("chunkSize", int64_t{4});
  document.append("uploadDate", bson::Date::now()).append("filename", "a").append("custom", 7);
  document.open_document("metadata").append("owner", "me").close();
  insert_file(std::move(document).finish());
  const auto files = table();
  const auto file = must(files->open(id));
  must(write(*file, 0, "hello"));
  must(file->flush());
  const bson::Document stored = *files_document(id);
  EXPECT_EQ(stored.view()["custom"].integral(), 7);
  EXPECT_EQ(stored.view()["metadata"].as_document()["owner"].as_string(), "me");
  EXPECT_EQ(stored.view()["length"].type(), bson::Type::kInt64);
  EXPECT_EQ(must(download(id)), "hello");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Write_OverAPartOfAStoredChunk_KeepsTheRestAndTheChunksId) {
  UploadOptions options;
  options.chunk_bytes = 8;
  const bson::Value id = upload("a", "aaaaaaaabbbbbbbbcc", options);
  const auto ids = [&] {
    std::vector<std::string> found;
    const auto snapshot = must(store().snapshot());
    const auto cursor = must(bucket().chunks().find(*snapshot, bson::View()));
    while (const auto chunk = must(cursor->next())) {
      found.push_back((*chunk)["_id"].as_object_id().hex());
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<std::string> before = ids();
  const auto files = table();
  const auto file = must(files->open(id));
  must(write(*file, 10, "XY"));
  must(write(*file, 0, "ZZZZZZZZ"));
  EXPECT_EQ(read_all(*file), "ZZZZZZZZbbXYbbbbcc");
  must(file->flush());
  EXPECT_EQ(must(download(id)), "ZZZZZZZZbbXYbbbbcc");
  EXPECT_EQ(ids(), before);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Write_ChunkOfADriverWithOddIdAndFields_IsReplaced) {
  const bson::Value id("string id");
  bson::Builder document;
  document.append("_id", id).append("length", 6.0).append("chunkSize", 4.0);
  document.append("uploadDate", bson::Date::now()).append("filename", "a");
  insert_file(std::move(document).finish());
  const std::string parts[] = {"abcd", "ef"};
  for (int n = 0; n < 2; ++n) {
    bson::Builder chunk;
    chunk.append(
        "data", bson::Binary{0, bytes_of(parts[n]).data(), static_cast<uint32_t>(parts[n].size())});
    chunk.append("extra", "x").append("n", double(n)).append("_id", "chunk" + std::to_string(n));
    chunk.append("files_id", id);
    const bson::Document made = std::move(chunk).finish();
    change([&](engine::Transaction& t) { must(bucket().chunks().insert(t, made)); });
  }
  EXPECT_EQ(must(download(id)), "abcdef");
  const auto files = table();
  const auto file = must(files->open(id));
  EXPECT_EQ(read_all(*file), "abcdef");
  must(write(*file, 1, "XYZ1"));
  must(file->flush());
  EXPECT_EQ(must(download(id)), "aXYZ1f");
  EXPECT_EQ(count(bucket().chunks()), 2);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Write_BehindTheLargestFile_FileTooLarge) {
  const auto files = table();
  const auto file = must(files->open(create("a", 1)));
  EXPECT_EQ(max_file_bytes(1), int64_t{1} << 31);
  EXPECT_EQ(code_of(write(*file, int64_t{1} << 31, "x")), kFileTooLarge);
  EXPECT_EQ(code_of(file->truncate((int64_t{1} << 31) + 1, TimeUpdate::kNow)), kFileTooLarge);
  EXPECT_EQ(code_of(write(*file, -1, "x")), ErrorCode::kBadValue);
  EXPECT_EQ(code_of(file->read(-1, 1)), ErrorCode::kBadValue);
  must(write(*file, (int64_t{1} << 31) - 1, "x"));
  must(file->flush());
  EXPECT_EQ(count(bucket().chunks()), 1);
}

TEST_F(FileTest, Hole_ChunksAreAbsentAndMarkedSparse_ReadAsZeros) {
  const auto files = table();
  const bson::Value id = create("a", 4);
  const auto file = must(files->open(id));
  must(write(*file, 0, "ab"));
  must(write(*file, 14, "cd"));
  const std::string expected = std::string("ab") + std::string(12, '\0') + "cd";
  EXPECT_EQ(read_all(*file), expected);
  must(file->flush());
  EXPECT_TRUE(this->file(id).sparse);
  EXPECT_EQ(count(bucket().chunks()), 2);
  EXPECT_EQ(this->file(id).md5, md5_of(expected));
  EXPECT_EQ(must(download(id)), expected);
  EXPECT_EQ(read_all(*file), expected);
  must(write(*file, 5, "x"));
  must(write(*file, 8, "yyyy"));
  must(file->flush());
  EXPECT_FALSE(this->file(id).sparse) << "its holes were filled while it was open";
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Truncate_Up_PadsTheLastChunkAndLeavesAHole) {
  const auto files = table();
  const bson::Value id = upload("a", "abcdef", {std::nullopt, 4, {}, std::nullopt});
  const auto file = must(files->open(id));
  must(file->truncate(13, TimeUpdate::kNow));
  EXPECT_EQ(file->length(), 13);
  EXPECT_EQ(read_all(*file), "abcdef" + std::string(7, '\0'));
  must(file->flush());
  EXPECT_TRUE(this->file(id).sparse);
  EXPECT_EQ(count(bucket().chunks()), 2);
  EXPECT_EQ(must(download(id)), "abcdef" + std::string(7, '\0'));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Truncate_Down_CutsTheLastChunkAndRemovesTheRest) {
  const auto files = table();
  const bson::Value id = upload("a", "abcdefghijklmnop", {std::nullopt, 4, {}, std::nullopt});
  const auto file = must(files->open(id));
  must(file->truncate(6, TimeUpdate::kNow));
  EXPECT_EQ(read_all(*file), "abcdef");
  must(file->truncate(9, TimeUpdate::kNow));
  EXPECT_EQ(read_all(*file), "abcdef" + std::string(3, '\0'));
  must(file->flush());
  EXPECT_EQ(must(download(id)), "abcdef" + std::string(3, '\0'));
  EXPECT_THAT(problems(), IsEmpty());
  must(file->truncate(0, TimeUpdate::kNow));
  must(file->flush());
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(this->file(id).md5, kMd5OfNothing);
  EXPECT_FALSE(this->file(id).sparse);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Read_MissingChunkOfAFileNotSparse_ChunkIsMissing) {
  const bson::Value id = upload("a", "abcdefgh", {std::nullopt, 4, {}, std::nullopt});
  change([&](engine::Transaction& transaction) {
    bson::Builder filter;
    filter.append("n", 1);
    must(bucket().chunks().remove(transaction, std::move(filter).finish(), false));
  });
  const auto files = table();
  const auto file = must(files->open(id));
  EXPECT_EQ(text_of(must(file->read(0, 4))), "abcd");
  EXPECT_EQ(code_of(file->read(3, 2)), kChunkIsMissing);
  EXPECT_EQ(code_of(write(*file, 5, "x")), kChunkIsMissing);
  must(write(*file, 4, "wxyz"));  // needs nothing of the damaged chunk, and so replaces it
  must(file->flush());
  EXPECT_EQ(must(download(id)), "abcdwxyz");
}

TEST_F(FileTest, Read_ChunkOfWrongSize_ChunkIsWrongSize) {
  const bson::Value id = upload("a", "abcdefgh", {std::nullopt, 4, {}, std::nullopt});
  change([&](engine::Transaction& transaction) {
    bson::Builder filter;
    filter.append("n", 0);
    bson::Builder update;
    update.open_document("$set").append("data", bson::Binary{0, bytes_of("abc").data(), 3}).close();
    must(bucket().chunks().update(transaction, std::move(filter).finish(),
                                  std::move(update).finish()));
  });
  const auto files = table();
  const auto file = must(files->open(id));
  EXPECT_EQ(code_of(file->read(0, 1)), kChunkIsWrongSize);
  EXPECT_EQ(code_of(file->read(2, 4)), kChunkIsWrongSize);
  EXPECT_EQ(text_of(must(file->read(4, 4))), "efgh");
}

TEST_F(FileTest, Read_BeyondTheEnd_ShortThenEmpty) {
  const bson::Value id = upload("a", "abcdefgh", {std::nullopt, 4, {}, std::nullopt});
  const auto files = table();
  const auto file = must(files->open(id));
  EXPECT_EQ(text_of(must(file->read(6, 100))), "gh");
  EXPECT_EQ(must(file->read(8, 100)).size(), 0u);
  EXPECT_EQ(must(file->read(1'000, 100)).size(), 0u);
  EXPECT_EQ(must(file->read(0, 0)).size(), 0u);
}

TEST_F(FileTest, Read_HeldWhileTheFileChanges_KeepsItsBytes) {
  const auto files = table();
  const bson::Value id = upload("a", "abcdefgh", {std::nullopt, 4, {}, std::nullopt});
  const auto file = must(files->open(id));
  const ReadResult stored = must(file->read(0, 8));
  must(write(*file, 0, "ABCDEFGH"));
  const ReadResult dirty = must(file->read(0, 8));
  must(write(*file, 2, "......"));
  must(file->truncate(1, TimeUpdate::kNow));
  must(write(*file, 1, "!!!!!!!!"));
  must(file->flush());
  EXPECT_EQ(text_of(stored), "abcdefgh");
  EXPECT_EQ(text_of(dirty), "ABCDEFGH");
  EXPECT_EQ(read_all(*file), "A!!!!!!!!");
}

TEST_F(FileTest, Flush_NothingDirty_CommitsNothing) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "x"));
  must(file->flush());
  const bson::Date date = this->file(id).upload_date;
  must(file->flush());
  EXPECT_EQ(this->file(id).upload_date, date);
}

TEST_F(FileTest, Flush_FileDeletedInTheStore_SaysSoOnceAndRefusesWrites) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "x"));
  must(bucket().remove(id));
  EXPECT_EQ(code_of(file->flush()), kFileDeleted);
  EXPECT_EQ(code_of(file->flush()), std::nullopt);
  EXPECT_EQ(code_of(write(*file, 0, "x")), kFileDeleted);
  EXPECT_EQ(count(bucket().chunks()), 0);
}

// The write waits for memory, that is, for the commit of the chunk that it has prepared.
TEST_F(FileTest, Write_BehindAPartialChunk_CommittedMeanwhile_PadsIt) {
  FileTableOptions options;
  options.dirty_bytes_max = 2500;  // chunks have 1000 bytes
  const auto files = table(options);
  const bson::Value id = create("a", 1000);
  const auto file = must(files->open(id));
  const auto other = must(files->open(create("b", 1000)));
  must(write(*file, 0, std::string(500, 'x')));
  must(write(*other, 0, std::string(1000, 'y')));
  must(write(*file, 5000, "z"));
  must(file->flush());
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(must(download(id)), std::string(500, 'x') + std::string(4500, '\0') + "z");
}

TEST_F(FileTest, Background_CommitsByAge) {
  FileTableOptions options;
  options.commit_interval = milliseconds(30);
  const auto files = table(options);
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "hello"));
  // The bytes are in the store a moment before they no longer count as dirty.
  for (int i = 0; i < 1'000 && files->dirty_bytes() != 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(files->dirty_bytes(), 0u);
  EXPECT_EQ(must(download(id)), "hello");
}

TEST_F(FileTest, Background_CommitsBySizeAndKeepsToTheBudget) {
  FileTableOptions options;
  options.commit_interval = milliseconds(60'000);
  options.commit_bytes = 64 * 1024;
  options.dirty_bytes_max = 256 * 1024;
  const auto files = table(options);
  const bson::Value id = create("a", 4096);
  const auto file = must(files->open(id));
  std::mt19937_64 random(1);
  const std::string bytes = random_bytes(random, 8 * 1024 * 1024);
  for (size_t at = 0; at < bytes.size(); at += 10'000) {
    must(write(*file, static_cast<int64_t>(at), bytes.substr(at, 10'000)));
    ASSERT_LE(files->dirty_bytes(), options.dirty_bytes_max);
  }
  EXPECT_GT(this->file(id).length, 0);
  must(file->flush());
  EXPECT_EQ(this->file(id).md5, md5_of(bytes));
  EXPECT_EQ(must(download(id)), bytes);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Budget_SmallerThanAChunk_StillWorks) {
  FileTableOptions options;
  options.dirty_bytes_max = 1'000;
  const auto files = table(options);
  const bson::Value id = create("a", 4096);
  const auto file = must(files->open(id));
  const std::string bytes(20'000, 'z');
  must(write(*file, 0, bytes));
  must(file->flush());
  EXPECT_EQ(must(download(id)), bytes);
}

TEST_F(FileTest, Md5_EmptyFileFlushed_IsThatOfNothing) {
  const auto files = table();
  const bson::Value id = create("a");
  must(must(files->open(id))->flush());
  EXPECT_EQ(this->file(id).md5, kMd5OfNothing);
}

TEST_F(FileTest, Md5_TurnedOff_IsNeverThere) {
  FileTableOptions options;
  options.md5 = false;
  const auto files = table(options);
  const bson::Value id = upload("a", "before");
  ASSERT_TRUE(file(id).md5);
  const auto opened = must(files->open(id));
  must(write(*opened, 0, "hello"));
  must(opened->flush());
  EXPECT_FALSE(file(id).md5) << "the old one must go";
  must(files->close(milliseconds(1'000)));
  EXPECT_FALSE(file(id).md5);
}

TEST_F(FileTest, Md5_AppendedFlushByFlush_Continues) {
  const auto files = table();
  const bson::Value id = create("a", 1000);
  const auto file = must(files->open(id));
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string part(static_cast<size_t>(i * 7 % 300 + 1), static_cast<char>('a' + i % 26));
    must(write(*file, static_cast<int64_t>(expected.size()), part));
    expected += part;
    must(file->flush());
    ASSERT_EQ(this->file(id).md5, md5_of(expected)) << i;
  }
}

TEST_F(FileTest, Md5_WrittenOutOfOrderWithinAFlush_IsRight) {
  const auto files = table();
  const bson::Value id = create("a", 100);
  const auto file = must(files->open(id));
  std::mt19937_64 random(3);
  const std::string bytes = random_bytes(random, 100'000);
  // The kernel writes back in this order: neighbouring blocks change places.
  for (size_t at = 0; at < bytes.size(); at += 2'000) {
    must(write(*file, static_cast<int64_t>(at + 1'000), bytes.substr(at + 1'000, 1'000)));
    must(write(*file, static_cast<int64_t>(at), bytes.substr(at, 1'000)));
  }
  must(file->flush());
  EXPECT_EQ(this->file(id).md5, md5_of(bytes));
  EXPECT_FALSE(this->file(id).sparse);
}

TEST_F(FileTest, Md5_RewrittenContent_IsAbsentThenComputedWhenQuiet) {
  const auto files = table();
  const bson::Value id = create("a", 64 * 1024);
  const auto file = must(files->open(id));
  std::string bytes(300'000, 'a');
  must(write(*file, 0, bytes));
  must(file->flush());
  ASSERT_TRUE(this->file(id).md5);
  must(write(*file, 5, "changed"));
  bytes.replace(5, 7, "changed");
  must(file->flush());
  EXPECT_FALSE(this->file(id).md5);
  EXPECT_EQ(await_md5(id), md5_of(bytes));
  // The open file learns of it a moment after the store has it.
  for (int i = 0; i < 1000 && !file->document().md5; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(file->document().md5, md5_of(bytes));
  must(write(*file, 5, "again!!"));
  must(file->flush());
  EXPECT_FALSE(this->file(id).md5) << "must not survive the next change";
}

TEST_F(FileTest, Md5_AppendedToAnExistingFile_ComputedAfterClose) {
  const auto files = table();
  const std::string bytes(200'000, 'a');
  const bson::Value id = upload("a", bytes);
  auto file = must(files->open(id));
  must(write(*file, 200'000, "tail"));
  must(file->flush());
  file.reset();
  EXPECT_EQ(await_md5(id), md5_of(bytes + "tail"));
}

// Hashing the zeros of this file would take half an hour.
TEST_F(FileTest, Md5_OfALargeFileThatIsMostlyHole_IsNotComputed) {
  const auto files = table();
  const bson::Value id = create("a");
  auto file = must(files->open(id));
  must(write(*file, 0, "some data"));
  must(file->truncate(int64_t{1} << 40, TimeUpdate::kNow));
  must(file->flush());
  file.reset();
  const auto begin = std::chrono::steady_clock::now();
  must(files->close(milliseconds(30'000)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(20'000));
  EXPECT_FALSE(this->file(id).md5);
}

TEST_F(FileTest, Md5_OfAFileWithHolesThatAreNotLarge_IsComputed) {
  const auto files = table();
  const bson::Value id = create("a");
  auto file = must(files->open(id));
  must(write(*file, 3'000'000, "tail"));
  must(file->flush());
  must(write(*file, 5, "head"));  // not in order
  must(file->flush());
  std::string bytes(3'000'004, '\0');
  bytes.replace(5, 4, "head");
  bytes.replace(3'000'000, 4, "tail");
  EXPECT_EQ(await_md5(id), md5_of(bytes));
}

TEST_F(FileTest, Close_WaitsForPendingMd5) {
  const auto files = table();
  const std::string bytes(200'000, 'a');
  const bson::Value id = upload("a", bytes);
  auto file = must(files->open(id));
  must(write(*file, 7, "b"));
  file.reset();
  must(files->close(milliseconds(10'000)));
  std::string expected = bytes;
  expected[7] = 'b';
  EXPECT_EQ(this->file(id).md5, md5_of(expected));
  EXPECT_EQ(must(download(id)), expected);
}

TEST_F(FileTest, Sync_IsDurableAndComplete) {
  const auto files = table();
  const bson::Value id = create("a");
  const auto file = must(files->open(id));
  must(write(*file, 0, "x"));
  must(file->fsync());
  EXPECT_EQ(must(download(id)), "x");
}

TEST_F(FileTest, FlushAll_CommitsEveryFile) {
  const auto files = table();
  std::vector<std::shared_ptr<File>> open;
  for (int i = 0; i < 20; ++i) {
    open.push_back(must(files->open(create("f" + std::to_string(i)))));
    must(write(*open.back(), 0, std::to_string(i)));
  }
  must(files->flush_all(engine::Durability::kDurable));
  EXPECT_EQ(files->dirty_bytes(), 0u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(must(download(open[i]->id())), std::to_string(i));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FileTest, Destroyed_WithoutClose_CommitsEverything) {
  const bson::Value id = create("a");
  {
    const auto files = table();
    must(write(*must(files->open(id)), 0, "hello"));
  }
  EXPECT_EQ(must(download(id)), "hello");
}

TEST_F(FileTest, DirtyFile_LetGoByAll_IsCommittedByTheTable) {
  FileTableOptions options;
  options.commit_interval = milliseconds(20);
  const auto files = table(options);
  const bson::Value id = create("a");
  must(write(*must(files->open(id)), 0, "hello"));
  for (int i = 0; i < 500 && files->find(id); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(must(download(id)), "hello");
}

TEST_F(FileTest, Zero_OfWholeChunks_GivesTheirRoomBack) {
  UploadOptions options;
  options.chunk_bytes = 1000;
  const bson::Value id = upload("f", std::string(10'000, 'x'), options);
  const auto files = table();
  const auto file = must(files->open(id));
  must(file->zero(1500, 6000, TimeUpdate::kNow));
  EXPECT_EQ(must(file->next_hole(0)), 2000);
  EXPECT_EQ(must(file->next_data(2000)), 7000);
  EXPECT_EQ(must(file->next_hole(7000)), 10'000);
  EXPECT_EQ(count(bucket().chunks()), 5);
  must(file->flush());
  EXPECT_EQ(must(download(id)),
            std::string(1500, 'x') + std::string(6000, '\0') + std::string(2500, 'x'));
  EXPECT_TRUE(this->file(id).sparse);
  EXPECT_EQ(this->file(id).md5, std::nullopt);
}

}  // namespace
}  // namespace gridmount::gridfs
