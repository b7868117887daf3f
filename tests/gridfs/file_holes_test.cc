// Goal: the holes of a file begin and end at the right places, in blocks of st_blksize (stat(2)),
// whether its data is in memory, in the store, or both.
// Method: the same question before and after a commit, and on a file that is opened again, when its
// holes are not known.

#include <gmock/gmock.h>

#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

constexpr int64_t kHoleBlock = 4096;
constexpr int64_t kHoleChunk = kDefaultChunkBytes;

class FileHolesTest : public BucketFixture {
 protected:
  FileHolesTest() : id_(create("sparse")) {
    FileTableOptions options;
    options.commit_interval = std::chrono::hours(1);
    options.md5 = false;
    files_ = FileTable::create(bucket(), options);
    file_ = must(files_->open(id_));
  }
  ~FileHolesTest() override {
    file_.reset();
    files_.reset();
  }

  void write(int64_t offset, int64_t size) {
    const std::string bytes(static_cast<size_t>(size), 'a');
    must(file_->write(offset, bytes_of(bytes), TimeUpdate::kNow));
  }
  struct Extent {
    int64_t data;
    int64_t hole;
    bool operator==(const Extent&) const = default;
  };
  std::vector<Extent> extents() {
    std::vector<Extent> found;
    for (int64_t at = 0; at < file_->length();) {
      const std::optional<int64_t> data = must(file_->next_data(at));
      if (!data) break;
      at = must(file_->next_hole(*data)).value();
      found.push_back({*data, at});
      if (found.size() > 100) break;
    }
    return found;
  }
  void expect_extents(const std::vector<Extent>& expected) {
    EXPECT_EQ(extents(), expected) << "in memory";
    must(file_->flush());
    EXPECT_EQ(extents(), expected) << "committed";
    file_.reset();
    file_ = must(files_->open(id_));
    EXPECT_EQ(extents(), expected) << "opened anew";
  }

  const bson::Value id_;
  std::unique_ptr<FileTable> files_;
  std::shared_ptr<File> file_;
};

TEST_F(FileHolesTest, DataAtTheBeginningOfALongHole_EndsWithItsLastBlock) {
  must(file_->truncate(4 << 20, TimeUpdate::kNow));
  write(0, 56 << 10);
  expect_extents({{0, 56 << 10}});
  EXPECT_EQ(must(file_->next_hole(0)), 56 << 10);
  EXPECT_EQ(must(file_->next_data(56 << 10)), std::nullopt);
}

TEST_F(FileHolesTest, AByteInTheMiddleOfAChunk_IsABlockOfData) {
  must(file_->truncate(kHoleChunk, TimeUpdate::kNow));
  write((128 << 10) + 5, 1);
  expect_extents({{128 << 10, (128 << 10) + kHoleBlock}});
  EXPECT_EQ(must(file_->next_data((128 << 10) + 7)), (128 << 10) + 7);
  EXPECT_EQ(must(file_->next_hole((128 << 10) + 7)), (128 << 10) + kHoleBlock);
}

TEST_F(FileHolesTest, SeveralPiecesInOneChunkAndTheNext) {
  must(file_->truncate(8 * kHoleChunk, TimeUpdate::kNow));
  write(kHoleBlock, kHoleBlock);
  write(3 * kHoleBlock, 2 * kHoleBlock);
  // Across chunk boundaries, to the end of the file.
  write(7 * kHoleChunk - kHoleBlock, kHoleChunk + kHoleBlock);
  expect_extents({{kHoleBlock, 2 * kHoleBlock},
                  {3 * kHoleBlock, 5 * kHoleBlock},
                  {7 * kHoleChunk - kHoleBlock, 8 * kHoleChunk}});
}

TEST_F(FileHolesTest, ARunOfChunksWithoutHoles_IsOne) {
  must(file_->truncate(10 * kHoleChunk, TimeUpdate::kNow));
  write(2 * kHoleChunk + kHoleBlock, 4 * kHoleChunk);
  expect_extents({{2 * kHoleChunk + kHoleBlock, 6 * kHoleChunk + kHoleBlock}});
}

TEST_F(FileHolesTest, PunchedBlocks_AreHoles) {
  write(0, 3 * kHoleChunk);
  must(file_->zero(kHoleBlock, 2 * kHoleChunk, TimeUpdate::kNow));
  expect_extents({{0, kHoleBlock}, {2 * kHoleChunk + kHoleBlock, 3 * kHoleChunk}});
}

TEST_F(FileHolesTest, AnEndWithinABlock_IsTheHole) {
  write(0, 3);
  expect_extents({{0, 3}});
  must(file_->truncate(kHoleBlock + 10, TimeUpdate::kNow));
  expect_extents({{0, kHoleBlock}});
}

TEST_F(FileHolesTest, ChunksThatEndWithinABlock) {
  const bson::Value id = create("odd", 255 * 1000);
  file_ = must(files_->open(id));
  must(file_->truncate(2'000'000, TimeUpdate::kNow));
  write(255'000 + 300, 10);
  for (int i = 0; i < 2; ++i) {
    const int64_t data = must(file_->next_data(0)).value();
    EXPECT_LE(data, 255'300);
    EXPECT_GE(data, 255'000 - kHoleBlock);
    const int64_t hole = must(file_->next_hole(255'300)).value();
    EXPECT_GE(hole, 255'310);
    EXPECT_LE(hole, 255'310 + kHoleBlock);
    must(file_->flush());
  }
}

}  // namespace
}  // namespace gridmount::gridfs
