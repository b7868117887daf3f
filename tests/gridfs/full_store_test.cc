// Goal: files in a full store. A writer learns of it soon, data without room is written when there
// is room, and removed space is free for the next write, even if another user had the file open.
// Method: a store with a size limit. No test waits for time to pass, so background commits are an
// hour apart.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kLimit = 32 << 20;
constexpr int64_t kPiece = 256 << 10;
constexpr uint64_t kCommitBytes = 2 << 20;
constexpr int kRemovals = random_rounds(1000);

class FullStoreTest : public BucketFixture {
 protected:
  FullStoreTest() {
    limit(kLimit);
    FileTableOptions options;
    options.commit_interval = std::chrono::hours(1);
    options.commit_bytes = kCommitBytes;
    options.md5 = false;
    files_ = FileTable::create(bucket(), options);
  }
  ~FullStoreTest() override { files_.reset(); }

  // Writes at the end of the file, like the mount when room is short, until a write is refused.
  // Returns how many bytes were accepted.
  static int64_t write_until_refused(File& file) {
    const std::string piece(kPiece, 'x');
    int64_t taken = 0;
    while (taken < 4 * kLimit) {
      Status written = file.expect_room();
      if (written) written = file.write(file.length(), bytes_of(piece), TimeUpdate::kNow);
      if (!written) {
        EXPECT_EQ(written.error().code(), ErrorCode::kOutOfDiskSpace) << written.error().message();
        return taken;
      }
      taken += kPiece;
    }
    ADD_FAILURE() << "nothing was refused";
    return taken;
  }
  void remove(const bson::Value& id) {
    change([&](engine::Transaction& transaction) { must(files_->remove(transaction, id)); });
    files_->after_commit();
  }
  int64_t available() { return must(store().stats()).available_bytes; }

  std::unique_ptr<FileTable> files_;
};

TEST_F(FullStoreTest, Write_BeyondWhatThereIsRoomFor_IsRefusedSoon) {
  const auto file = must(files_->open(create("endless")));
  const int64_t taken = write_until_refused(*file);
  EXPECT_GT(taken, kLimit / 2);
  EXPECT_LT(taken, kLimit);
  EXPECT_LT(available(), 4 << 20);
  EXPECT_EQ(code_of(file->flush()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(code_of(file->expect_room()), ErrorCode::kOutOfDiskSpace);
}

TEST_F(FullStoreTest, Remove_WithDataThatNeverHadRoom_GivesAllOfItBackAtOnce) {
  const bson::Value id = create("big");
  const int64_t before = available();
  auto file = must(files_->open(id));
  (void)write_until_refused(*file);
  EXPECT_EQ(code_of(file->flush()), ErrorCode::kOutOfDiskSpace);
  // Uncommitted data keeps the file alive, although nobody has it open.
  file.reset();
  EXPECT_GT(files_->dirty_bytes(), 0U);
  remove(id);
  EXPECT_EQ(files_->dirty_bytes(), 0U);
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_GT(available(), before - (4 << 20));
  EXPECT_THAT(problems(), IsEmpty());
}

// The removal wakes the background thread, which may take the file at any moment.
TEST_F(FullStoreTest, Remove_WithUncommittedData_GivesItBackBeforeItReturns) {
  for (int i = 0; i < kRemovals; ++i) {
    const bson::Value id = create("small");
    auto file = must(files_->open(id));
    must(file->write(0, bytes_of("x"), TimeUpdate::kNow));
    file.reset();
    remove(id);
    ASSERT_EQ(files_->dirty_bytes(), 0U) << "after removal " << i;
    ASSERT_EQ(count(bucket().detached()), 0) << "after removal " << i;
  }
}

// Another thread may get a removed file by its _id, change it and let it go.
TEST_F(FullStoreTest, Remove_WhileAnotherThreadUsesTheFile_GivesItBackInTheEnd) {
  std::mutex mutex;
  bson::Value newest(create("first"));
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (bool flushes = false; !done; flushes = !flushes) {
      bson::Value id;
      {
        const std::lock_guard lock(mutex);
        id = newest;
      }
      const std::shared_ptr<File> file = files_->find(id);
      if (!file) continue;
      must(file->write(0, bytes_of("y"), TimeUpdate::kNow));
      if (flushes) must(file->flush());
    }
  });
  for (int i = 0; i < kRemovals; ++i) {
    const bson::Value id = create("small");
    auto file = must(files_->open(id));
    {
      const std::lock_guard lock(mutex);
      newest = id;
    }
    must(file->write(0, bytes_of("x"), TimeUpdate::kNow));
    file.reset();
    remove(id);
  }
  done = true;
  other.join();
  while (files_->dirty_bytes() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(files_->close(std::chrono::milliseconds(0)));
  EXPECT_EQ(count(bucket().chunks()), 0);
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FullStoreTest, Flush_AfterTheLastHasLetGoOfWhatWasRemoved_FindsItsRoom) {
  const bson::Value id = create("big");
  auto big = must(files_->open(id));
  const auto next = must(files_->open(create("next")));
  (void)write_until_refused(*big);
  const std::string content(kPiece, 'y');
  for (int64_t i = 0; i < kLimit / 2 / kPiece; ++i) {
    // There is no room for uncommitted data, so it can only use memory.
    if (!next->write(i * kPiece, bytes_of(content), TimeUpdate::kNow)) break;
  }
  EXPECT_EQ(code_of(next->flush()), ErrorCode::kOutOfDiskSpace);
  remove(id);
  // The file has no name, but a process that has it open still has its content.
  EXPECT_EQ(code_of(next->flush()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(read_all(*big).size(), static_cast<size_t>(big->length()));
  big.reset();
  must(next->expect_room());
  must(next->flush());
  for (int64_t i = 0; i < kLimit / 2 / kPiece; ++i) {
    must(next->write(i * kPiece, bytes_of(content), TimeUpdate::kNow));
    must(next->expect_room());
  }
  must(next->flush());
  EXPECT_EQ(must(download(next->id())).size(), static_cast<size_t>(kLimit / 2));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(FullStoreTest, Write_WhereOthersHaveNoRoom_StillHasMemory) {
  const auto small = must(files_->open(create("small")));
  std::vector<std::shared_ptr<File>> full;
  for (int i = 0; i < 4; ++i)
    full.push_back(must(files_->open(create("full" + std::to_string(i)))));
  const std::string piece(kPiece, 'x');
  for (const auto& file : full) {
    // A writer that does not check for room gets what a commit can hold, and no more.
    (void)write_until_refused(*file);
    int64_t length = file->length();
    while (file->write(length, bytes_of(piece), TimeUpdate::kNow)) length += kPiece;
  }
  EXPECT_LT(files_->dirty_bytes(), full.size() * (kCommitBytes + 2 * kPiece));
  must(small->write(0, bytes_of("x"), TimeUpdate::kNow));
}

TEST_F(FullStoreTest, Write_WhileCommitsFailAllTheTime_TakesNoMoreMemory) {
  const auto file = must(files_->open(create("full")));
  (void)write_until_refused(*file);
  std::atomic<bool> done = false;
  std::atomic<int> commits = 0;
  std::thread committer([&] {
    while (!done) {
      EXPECT_EQ(code_of(file->flush()), ErrorCode::kOutOfDiskSpace);
      ++commits;
      // Without a pause, the writer seldom gets the lock.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  const std::string piece(kPiece, 'x');
  int64_t length = file->length();
  for (int i = 0; i < 2'000 || commits < 20; ++i) {
    if (file->write(length, bytes_of(piece), TimeUpdate::kNow)) length += kPiece;
  }
  done = true;
  committer.join();
  EXPECT_LT(files_->dirty_bytes(), kCommitBytes + 2 * kPiece);
}

}  // namespace
}  // namespace gridmount::gridfs
