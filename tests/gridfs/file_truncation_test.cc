// Goal: a truncation, whatever is written after it, leaves the content that the calls ask for, and
// removes a bounded number of chunks at once. Method: open files over a real store, which is
// checked for problems.
#include <gmock/gmock.h>

#include "gridfs/bucket/chunk_size.h"
#include "gridfs/content/file_commit.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;

class FileTruncationTest : public BucketFixture {
 protected:
  std::unique_ptr<FileTable> table(FileTableOptions options = {}) {
    return FileTable::create(bucket(), std::move(options));
  }
};

TEST_F(FileTruncationTest, Truncate_ManyChunks_TheRestGoesLaterAndIsNoted) {
  const std::string large(20'000, 'x');
  const bson::Value id = upload("a", large, {std::nullopt, 1, {}, std::nullopt});
  {
    const auto files = table();
    const auto file = must(files->open(id));
    must(file->truncate(0, TimeUpdate::kNow));
    must(file->flush());
    EXPECT_THAT(problems(), IsEmpty());
    // Writes again at once, where chunks of the truncated content are left.
    must(write(*file, 0, "new"));
    must(write(*file, 9'000, "more"));
    must(file->flush());
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_EQ(must(download(id)).substr(0, 3), "new");
    must(files->close(milliseconds(0)));
  }
  EXPECT_EQ(count(bucket().chunks()), 7);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(FileTruncationTest, Truncate_KilledBeforeTheRestWent_ReclaimedAtOpen) {
  const bson::Value id = upload("a", std::string(5'000, 'x'), {std::nullopt, 1, {}, std::nullopt});
  change([&](engine::Transaction& transaction) {
    bson::Builder update;
    update.open_document("$set").append("length", int64_t{10}).close().open_document("$unset");
    update.append("md5", "").close();
    must(bucket().files().update(transaction, bson::View(), std::move(update).finish()));
    must(bucket().record_truncated(transaction, id, 10, 5'000));
  });
  EXPECT_THAT(problems(), IsEmpty());
  must(bucket().reclaim_all());
  EXPECT_EQ(count(bucket().chunks()), 10);
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(must(download(id)), std::string(10, 'x'));
}

// The rest of a truncated file is removed in the background, and must not appear as content
// meanwhile.
TEST_F(FileTruncationTest, CutAndGrownAgain_IsZerosForWhoOpensItNext) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  constexpr int64_t kBytes = 40'000'000;
  UploadOptions options;
  options.chunk_bytes = 4000;
  for (const bool at_once : {true, false}) {
    const bson::Value id = upload("f", std::string(kBytes, 'x'), options);
    const auto files = table();
    const auto file = must(files->open(id));
    must(file->truncate(0, TimeUpdate::kNow));
    if (!at_once) must(file->flush());
    must(file->truncate(kBytes, TimeUpdate::kNow));
    must(file->flush());
    const auto others = table();
    const auto other = must(others->open(id));
    EXPECT_TRUE(text_of(must(other->read(0, kBytes))) == std::string(kBytes, '\0'));
    must(file->write(5000, bytes_of("y"), TimeUpdate::kNow));
    must(file->flush());
    EXPECT_EQ(must(download(id)).find_first_not_of('\0'), 5000U);
  }
}

// One transaction removes a bounded number of chunks, even if little is written after them. Between
// the two transactions the store has a former content of the file, with a date of its own.
TEST_F(FileTruncationTest, CutAndWrittenFarBehind_IsCommittedInTwoSteps) {
  constexpr int64_t kChunks = 80;
  constexpr auto kChunkBytes = static_cast<size_t>(kDefaultChunkBytes);
  ASSERT_GT(kChunks, chunks_removed_at_once(kDefaultChunkBytes) + 1);
  const bson::Value id = upload("f", std::string(kChunks * kChunkBytes, 'x'));
  std::vector<std::string> contents;
  std::vector<int64_t> dates;
  FileTableOptions options;
  options.adjust_upload_date = [&](const Bucket&, engine::Transaction&, const bson::Value&,
                                   bson::Date& date) -> Status {
    contents.push_back(must(download(id)));
    dates.push_back(date.milliseconds);
    return {};
  };
  const auto files = table(std::move(options));
  const auto file = must(files->open(id));
  must(write(*file, 0, "new"));
  must(file->truncate(100, TimeUpdate::kNow));
  must(write(*file, (kChunks - 1) * int64_t{kDefaultChunkBytes}, "end"));
  must(file->flush());
  std::string expected = "new" + std::string(97, 'x');
  expected.resize(kChunkBytes, '\0');
  ASSERT_EQ(contents.size(), 2U);
  EXPECT_TRUE(contents[1] == expected);
  EXPECT_GT(dates[1], dates[0]);
  expected.resize((kChunks - 1) * kChunkBytes, '\0');
  expected += "end";
  EXPECT_TRUE(must(download(id)) == expected);
  EXPECT_EQ(count(bucket().chunks()), 2);
  EXPECT_THAT(problems(), IsEmpty());
}

// Each step takes time by the number of chunks, not by the length of the file. A loop over the
// whole length would take hours.
TEST_F(FileTruncationTest, LongestSparseFile_IsCutZeroedAndGrownAgain) {
  const bson::Value id = upload("f", std::string(100'000, 'x'));
  const int64_t longest = max_file_bytes(kDefaultChunkBytes);
  const auto files = table();
  {
    const auto file = must(files->open(id));
    must(file->truncate(longest, TimeUpdate::kNow));
    must(file->write(longest / 2, bytes_of("middle"), TimeUpdate::kNow));
    must(file->write(longest - 3, bytes_of("end"), TimeUpdate::kNow));
    must(file->flush());
    must(file->truncate(50'000, TimeUpdate::kNow));
    must(file->truncate(longest, TimeUpdate::kNow));
    must(file->flush());
    EXPECT_EQ(text_of(must(file->read(longest - 3, 3))), std::string(3, '\0'));
    EXPECT_EQ(text_of(must(file->read(longest / 2, 6))), std::string(6, '\0'));
    must(file->write(longest - 3, bytes_of("end"), TimeUpdate::kNow));
    must(file->flush());
  }
  // After it is opened again, nobody knows where its holes are.
  const auto file = must(files->open(id));
  must(file->zero(10, longest - 12, TimeUpdate::kNow));
  EXPECT_EQ(text_of(must(file->read(longest - 3, 3))), std::string("\0nd", 3));
  EXPECT_EQ(text_of(must(file->read(0, 11))), std::string(10, 'x') + '\0');
  must(file->truncate(1, TimeUpdate::kNow));
  must(file->flush());
  EXPECT_EQ(must(download(id)), "x");
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
