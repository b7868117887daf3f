// Goal: if a change of a file fails for lack of memory, the file loses nothing and continues to
// work.
// Method: the function that a commit calls in its transaction throws std::bad_alloc, or a caller
// asks for more memory than a process can have.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "gridfs/content/chunk_memory.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;
using ::testing::NotNull;

constexpr uint64_t kCommitBytes = 1 << 20;

class FileMemoryTest : public BucketFixture {
 protected:
  FileMemoryTest() {
    FileTableOptions options;
    options.commit_interval = std::chrono::hours(1);
    options.commit_bytes = kCommitBytes;
    options.adjust_upload_date = [this](const Bucket&, engine::Transaction&, const bson::Value&,
                                        bson::Date&) -> Status {
      if (!is_short_) return {};
      ++failures_;
      throw std::bad_alloc();
    };
    files_ = FileTable::create(bucket(), options);
  }
  ~FileMemoryTest() override { files_.reset(); }

  std::atomic<bool> is_short_ = false;  // commits of content throw
  std::atomic<int> failures_ = 0;       // the commits that have thrown
  std::unique_ptr<FileTable> files_;
};

// The mount continues if there is no memory for one request.
TEST_F(FileMemoryTest, Flush_WithoutMemory_LosesNothing) {
  const bson::Value id = create("a");
  const auto file = must(files_->open(id));
  must(write(*file, 0, "hello"));
  is_short_ = true;
  EXPECT_THROW((void)file->flush(), std::bad_alloc);
  // This byte is newer than the content of the failed commit.
  must(write(*file, 0, "J"));
  is_short_ = false;
  EXPECT_EQ(read_all(*file), "Jello");
  must(file->flush());
  EXPECT_EQ(must(download(id)), "Jello");
  EXPECT_THAT(problems(), IsEmpty());
}

// No caller gets the error, and the thread that commits in the background goes on.
TEST_F(FileMemoryTest, BackgroundCommit_WithoutMemory_LosesNothing) {
  const bson::Value id = create("a");
  const auto file = must(files_->open(id));
  is_short_ = true;
  must(write(*file, 0, std::string(kCommitBytes, 'x')));
  while (failures_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  is_short_ = false;
  // The first flush reports what failed in the background, although its own commit succeeds.
  EXPECT_EQ(code_of(file->flush()), ErrorCode::kOperationFailed);
  must(file->flush());
  EXPECT_EQ(must(download(id)), std::string(kCommitBytes, 'x'));
  EXPECT_THAT(problems(), IsEmpty());
}

// F4: while a hole is made, absent chunks read as zeros.
TEST_F(FileMemoryTest, Zero_WithoutMemory_MissingChunksAreNoHoles) {
  const bson::Value id = upload("a", "abcdefgh", {std::nullopt, 4, {}, std::nullopt});
  const auto file = must(files_->open(id));
  is_short_ = true;
  EXPECT_THROW((void)file->zero(0, 4, TimeUpdate::kNow), std::bad_alloc);
  is_short_ = false;
  EXPECT_EQ(read_all(*file), "abcdefgh");
  change([&](engine::Transaction& transaction) {
    bson::Builder filter;
    filter.append("n", 1);
    must(bucket().chunks().remove(transaction, std::move(filter).finish(), false));
  });
  EXPECT_EQ(code_of(file->read(4, 4)), kChunkIsMissing);
}

// A buffer that was not made occupies nothing.
TEST(ChunkMemoryTest, Acquire_WithoutMemory_KeepsTheBudget) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer ends a program that asks for so much";
  constexpr uint64_t kBudget = 1 << 20;
  const auto memory = std::make_shared<ChunkMemory>(kBudget);
  EXPECT_THROW((void)memory->try_acquire(std::numeric_limits<size_t>::max() / 4), std::bad_alloc);
  EXPECT_EQ(memory->bytes_in_use(), 0U);
  EXPECT_THAT(memory->try_acquire(kBudget / 2), NotNull());
  EXPECT_THAT(memory->try_acquire(kBudget / 2), NotNull());
}

}  // namespace
}  // namespace gridmount::gridfs
