// Goal: metadata.storedChunks of a sparse file is the number of its stored chunks, whatever makes
// and fills holes, and files without holes do not have the field.
// Method: one change per test, then the field is compared with the count of problems().
// file_model_test.cc makes random changes.

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <thread>

#include "gridfs/namespace/nodes.h"
#include "tests/forwarding_store.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;
using ::testing::Optional;

constexpr int32_t kMegabyte = 1024 * 1024;
// One transaction removes this many chunks of that size.
constexpr int64_t kRemovedAtOnce = 16;

// Refuses one transaction of the thread that made it.
class RefusingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    if (std::this_thread::get_id() == main_ && refused_in_ > 0 && --refused_in_ == 0) {
      return fail(code_, "refused");
    }
    return inner().begin(kind);
  }
  void refuse(int nth, ErrorCode code) {
    refused_in_ = nth;
    code_ = code;
  }
  // Returns whether a transaction was refused. From now on, none is.
  bool has_refused() { return std::exchange(refused_in_, 0) == 0; }

 private:
  const std::thread::id main_ = std::this_thread::get_id();
  int refused_in_ = 0;
  ErrorCode code_ = ErrorCode::kIoError;
};

class StoredChunksTest : public BucketFixture {
 protected:
  ~StoredChunksTest() override {
    if (files_) must(files_->close(std::chrono::milliseconds(0)));
    EXPECT_THAT(problems(), IsEmpty());
  }

  FileTable& files() {
    if (!files_) files_ = FileTable::create(bucket(), FileTableOptions());
    return *files_;
  }
  // Makes a file of ten chunks with data in the chunks 0, 4 and 9 only. Nobody has it open.
  bson::Value make_sparse(int32_t chunk_bytes = 100) {
    const bson::Value id = create("sparse", chunk_bytes);
    const auto file = must(files().open(id));
    for (const int64_t n : {0, 4, 9}) {
      must(write(*file, n * chunk_bytes, std::string(static_cast<size_t>(chunk_bytes), 'x')));
    }
    must(file->flush());
    return id;
  }
  std::shared_ptr<File> open(const bson::Value& id) { return must(files().open(id)); }
  std::optional<int64_t> stored(const bson::Value& id) { return file(id).stored_chunks; }
  int64_t blocks(const bson::Value& id) { return blocks_of(file(id)); }

 private:
  std::unique_ptr<FileTable> files_;
};

TEST_F(StoredChunksTest, FileWithoutHoles_HasNoCount) {
  const bson::Value id = create("a", 100);
  const auto file = open(id);
  must(write(*file, 0, std::string(1000, 'x')));
  must(file->truncate(250, TimeUpdate::kNow));
  must(file->flush());
  EXPECT_FALSE(files_document(id)->view().find("metadata.storedChunks"));
  EXPECT_EQ(stored(id), std::nullopt);
  EXPECT_EQ(file->document().stored_chunks, std::nullopt);
}

TEST_F(StoredChunksTest, Hole_IsNotCounted) {
  const bson::Value id = make_sparse();
  EXPECT_THAT(stored(id), Optional(3));
  must(open(id)->truncate(5'000, TimeUpdate::kNow));
  must(open(id)->flush());
  EXPECT_THAT(stored(id), Optional(3));
}

TEST_F(StoredChunksTest, WritingToAFileOpenedAnew_CountsWhatWasAHoleOnly) {
  const bson::Value id = make_sparse();
  const auto file = open(id);
  must(write(*file, 400, std::string(100, 'y')));  // a whole stored chunk
  must(write(*file, 30, "y"));                     // a part of a stored chunk
  must(write(*file, 250, std::string(100, 'y')));  // the holes 2 and 3
  EXPECT_GE(file->document().stored_chunks.value_or(0), 5);
  EXPECT_LE(file->document().stored_chunks.value_or(100), 3 + 4);
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(5));
  EXPECT_THAT(file->document().stored_chunks, Optional(5));
}

TEST_F(StoredChunksTest, HolesFilledWhileItIsOpen_TakeTheCountAway) {
  const bson::Value id = create("a", 100);
  const auto file = open(id);
  must(write(*file, 250, "x"));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(1));
  must(write(*file, 0, std::string(200, 'x')));
  must(file->flush());
  EXPECT_FALSE(this->file(id).sparse);
  EXPECT_EQ(stored(id), std::nullopt);
}

TEST_F(StoredChunksTest, Punching_OfAFileWithoutHoles) {
  const bson::Value id = upload("a", std::string(1000, 'x'), {std::nullopt, 100, {}, std::nullopt});
  must(open(id)->zero(150, 500, TimeUpdate::kNow));
  must(open(id)->flush());
  EXPECT_THAT(stored(id), Optional(6)) << "chunks 2 to 5 have gone";
}

// Such zeros wait for the next commit like other writes.
TEST_F(StoredChunksTest, Zeroing_WithoutAWholeChunk_CommitsNothing) {
  const bson::Value id = create("a", 100);
  FileTableOptions options;
  options.commit_interval = std::chrono::hours(1);
  const auto table = FileTable::create(bucket(), options);
  const auto file = must(table->open(id));
  must(write(*file, 0, std::string(1000, 'x')));
  must(file->flush());
  const bson::Date date = this->file(id).upload_date;
  for (const auto& [offset, size] : {std::pair(150, 50), {250, 100}, {410, 20}}) {
    must(file->zero(offset, size, TimeUpdate::kNow));
    EXPECT_EQ(this->file(id).upload_date, date) << offset;
  }
  must(file->flush());
  EXPECT_FALSE(this->file(id).sparse);
  std::string expected(1000, 'x');
  for (const auto& [offset, size] : {std::pair(150, 50), {250, 100}, {410, 20}}) {
    expected.replace(offset, size, size, '\0');
  }
  EXPECT_EQ(must(download(id)), expected);
  must(table->close(std::chrono::milliseconds(0)));
}

TEST_F(StoredChunksTest, Punching_WhereThereAreHolesAlready) {
  const bson::Value id = make_sparse();
  must(open(id)->zero(100, 500, TimeUpdate::kNow));
  EXPECT_THAT(stored(id), Optional(2));
  must(open(id)->zero(0, 1000, TimeUpdate::kNow));
  EXPECT_THAT(stored(id), Optional(0));
}

TEST_F(StoredChunksTest, Cutting) {
  const bson::Value id = make_sparse();
  must(open(id)->truncate(420, TimeUpdate::kNow));
  must(open(id)->flush());
  EXPECT_THAT(stored(id), Optional(2));
  must(open(id)->truncate(0, TimeUpdate::kNow));
  must(open(id)->flush());
  EXPECT_FALSE(file(id).sparse);
}

TEST_F(StoredChunksTest, CuttingByMoreThanOneTransactionRemoves) {
  const bson::Value id = create("a", kMegabyte);
  const auto file = open(id);
  const std::string chunk(kMegabyte, 'x');
  for (int64_t n = 0; n < kRemovedAtOnce + 8; n += 2) must(write(*file, n * kMegabyte, chunk));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional((kRemovedAtOnce + 8) / 2));
  must(file->truncate(3 * kMegabyte, TimeUpdate::kNow));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(2));
  EXPECT_THAT(problems(), IsEmpty());
  // Writes over the rest of the truncated content.
  must(write(*file, 20 * kMegabyte, chunk));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(3));
}

TEST_F(StoredChunksTest, CuttingByMuchAndGrowingAgainInOneCommit) {
  const bson::Value id = create("a", kMegabyte);
  const std::string chunk(kMegabyte, 'x');
  {
    const auto file = open(id);
    for (int64_t n = 0; n < kRemovedAtOnce + 8; n += 2) must(write(*file, n * kMegabyte, chunk));
    must(file->flush());
  }
  const auto file = open(id);
  must(file->truncate(2 * kMegabyte, TimeUpdate::kNow));
  must(file->truncate(30 * kMegabyte, TimeUpdate::kNow));
  must(write(*file, 29 * kMegabyte, "x"));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(2));
}

// One of the transactions fails. After a full disk, the file itself tries again.
TEST_F(StoredChunksTest, CuttingByMuchAndGrowingAgain_CountsOnceIfATransactionFails) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  RefusingStore refusing(store());
  const Bucket refused_bucket(refusing, refusing.database("test"), BucketOptions());
  FileTableOptions options;
  options.commit_interval = std::chrono::hours(1);
  options.commit_bytes = uint64_t{64} * kMegabyte;
  const auto table = FileTable::create(refused_bucket, options);
  const std::string chunk(kMegabyte, 'x');
  int refused = 0;
  for (const ErrorCode code : {ErrorCode::kOutOfDiskSpace, ErrorCode::kIoError}) {
    for (const int step : {1, 2}) {  // 2: with holes
      bool has_refused = true;
      for (int nth = 1; has_refused; ++nth) {
        SCOPED_TRACE("transaction " + std::to_string(nth) + ", step " + std::to_string(step) +
                     ", code " + std::to_string(static_cast<int>(code)));
        const bson::Value id = create("a", kMegabyte);
        auto file = must(table->open(id));
        for (int64_t n = 0; n < kRemovedAtOnce + 8; n += step) {
          must(write(*file, n * kMegabyte, chunk));
        }
        must(file->flush());
        must(file->truncate(2 * kMegabyte, TimeUpdate::kNow));
        must(write(*file, kMegabyte, "y"));
        must(file->truncate(30 * kMegabyte, TimeUpdate::kNow));
        must(write(*file, 29 * kMegabyte, "x"));
        refusing.refuse(nth, code);
        const Status flushed = file->flush();
        has_refused = refusing.has_refused();
        refused += has_refused ? 1 : 0;
        if (!flushed) {
          EXPECT_TRUE(has_refused) << flushed.error().message();
          must(file->flush());
        }
        EXPECT_THAT(stored(id), Optional(3));
        EXPECT_THAT(file->document().stored_chunks, Optional(3));
        EXPECT_THAT(problems(), IsEmpty());
        change([&](engine::Transaction& transaction) { must(table->remove(transaction, id)); });
        table->after_commit();
      }
    }
  }
  EXPECT_GE(refused, 3 * 2 * 2);
  must(table->close(std::chrono::milliseconds(0)));
}

TEST_F(StoredChunksTest, ChunkThatADriverHasLeftBehindTheEnd_CountsOnceItIsWithin) {
  const bson::Value id = make_sparse();
  insert_chunk(id, 20, "left behind");
  const auto file = open(id);
  must(write(*file, 2000, "x"));
  must(file->flush());
  EXPECT_THAT(stored(id), Optional(4));
}

TEST_F(StoredChunksTest, CountThatNobodyMade_StaysUnknown) {
  const bson::Value id = make_sparse();
  change([&](engine::Transaction& transaction) {
    bson::Builder update;
    update.open_document("$unset").append("metadata.storedChunks", "").close();
    must(bucket().files().update(transaction, bson::View(), std::move(update).finish()));
  });
  EXPECT_EQ(blocks(id), 2) << "by the length";
  const auto file = open(id);
  must(write(*file, 100, "x"));
  must(file->flush());
  EXPECT_TRUE(this->file(id).sparse);
  EXPECT_EQ(stored(id), std::nullopt);
}

TEST_F(StoredChunksTest, Blocks_AreThoseOfTheChunksThatAreThere) {
  const bson::Value id = make_sparse(1024);
  EXPECT_EQ(blocks(id), 3 * 2);
  must(open(id)->zero(0, 10'240, TimeUpdate::kNow));
  EXPECT_EQ(blocks(id), 1) << "0 would say that there can be no data";
  must(open(id)->truncate(0, TimeUpdate::kNow));
  must(open(id)->flush());
  EXPECT_EQ(blocks(id), 0);
  const bson::Value whole = upload("b", std::string(1025, 'x'), {});
  EXPECT_EQ(blocks(whole), 3);
}

TEST_F(StoredChunksTest, Blocks_OfAFileThatIsOpen_ShowWhatIsNotWrittenYet) {
  const bson::Value id = create("a", 1024);
  const auto file = open(id);
  must(file->truncate(1'000'000, TimeUpdate::kNow));
  EXPECT_EQ(blocks_of(file->document()), 1);
  must(write(*file, 500'000, "x"));
  EXPECT_EQ(blocks_of(file->document()), 2);
  must(file->zero(0, 1'000'000, TimeUpdate::kNow));
  EXPECT_EQ(blocks_of(file->document()), 1);
}

}  // namespace
}  // namespace gridmount::gridfs
