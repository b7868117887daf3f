// Goal: space allocated by fallocate(2) counts in st_blocks in addition to stored data, until it is
// written, truncated or zeroed.
// Method: one change per test, on a file while it is open, after a commit, and after it is opened
// again, when its holes are not known. file_model_test.cc makes random changes.

#include <gmock/gmock.h>

#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/revisions.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Range = AllocatedRanges::Run;

constexpr int64_t kBlock = 4096;
constexpr int64_t kChunk = 4 * kBlock;

class AllocationTest : public BucketFixture {
 protected:
  AllocationTest() : id_(create("a", kChunk)) {
    FileTableOptions options;
    options.commit_interval = std::chrono::hours(1);
    options.md5 = false;
    files_ = FileTable::create(bucket(), options);
    file_ = must(files_->open(id_));
  }
  ~AllocationTest() override {
    file_.reset();
    must(files_->close(std::chrono::milliseconds(0)));
    EXPECT_THAT(problems(), IsEmpty());
  }

  void write(int64_t offset, int64_t size) {
    const std::string bytes(static_cast<size_t>(size), 'a');
    must(file_->write(offset, bytes_of(bytes), TimeUpdate::kNow));
  }
  void open_anew() {
    file_.reset();
    file_ = must(files_->open(id_));
  }
  // Counts blocks of 4 KiB, rounded up.
  void expect_blocks(int64_t blocks) {
    const auto shown = [](const FilesDocument& document) { return (blocks_of(document) + 7) / 8; };
    EXPECT_EQ(shown(file_->document()), blocks) << "in memory";
    must(file_->flush());
    EXPECT_EQ(shown(file_->document()), blocks) << "committed";
    EXPECT_EQ(shown(file(id_)), blocks) << "in the store";
    open_anew();
    EXPECT_EQ(shown(file_->document()), blocks) << "opened anew";
  }
  std::vector<Range> runs() { return file_->document().allocated.runs(); }

  const bson::Value id_;
  std::unique_ptr<FileTable> files_;
  std::shared_ptr<File> file_;
};

TEST_F(AllocationTest, AHoleThatIsAllocated_Counts) {
  must(file_->truncate(2 * kBlock, TimeUpdate::kNow));
  expect_blocks(1);
  must(file_->fallocate(0, 2 * kBlock));
  EXPECT_EQ(blocks_of(file_->document()), 16);
  expect_blocks(2);
  EXPECT_EQ(must(file_->next_data(0)), std::nullopt) << "it is a hole all the same";
  EXPECT_EQ(read_all(*file_), std::string(2 * kBlock, '\0'));
}

TEST_F(AllocationTest, BlocksThatAreTouched_CountWhole) {
  must(file_->truncate(10 * kBlock, TimeUpdate::kNow));
  must(file_->fallocate(kBlock - 1, 2));
  EXPECT_THAT(runs(), ElementsAre(Range{0, 2 * kBlock}));
  expect_blocks(2);
}

TEST_F(AllocationTest, BehindTheEnd_CountsUntilTheFileIsCut) {
  write(0, 100);
  must(file_->fallocate(0, 3 * kBlock));
  EXPECT_THAT(runs(), ElementsAre(Range{100, 3 * kBlock}));
  expect_blocks(3);
  EXPECT_EQ(file_->length(), 100);
  // Writes within the allocation, across the end of the file.
  write(50, kBlock);
  expect_blocks(3);
  must(file_->truncate(50, TimeUpdate::kNow));
  EXPECT_THAT(runs(), IsEmpty());
  expect_blocks(1);
  must(file_->fallocate(0, 1));
  EXPECT_THAT(runs(), ElementsAre(Range{50, kBlock}));
  must(file_->truncate(0, TimeUpdate::kNow));
  expect_blocks(0);
}

TEST_F(AllocationTest, WhatIsStored_DoesNotCountTwice) {
  must(file_->truncate(5 * kChunk, TimeUpdate::kNow));
  write(2 * kChunk, kChunk);
  must(file_->flush());
  for (const bool anew : {false, true}) {
    if (anew) open_anew();
    must(file_->fallocate(0, 5 * kChunk));
    EXPECT_THAT(runs(), ElementsAre(Range{0, 2 * kChunk}, Range{3 * kChunk, 5 * kChunk}));
    expect_blocks(20);
    must(file_->zero(0, 2 * kChunk, TimeUpdate::kNow));
    must(file_->zero(3 * kChunk, 2 * kChunk, TimeUpdate::kNow));
    EXPECT_THAT(runs(), IsEmpty());
    expect_blocks(4);
  }
  // One byte in a chunk stores the whole chunk.
  must(file_->fallocate(0, 5 * kChunk));
  write(4 * kChunk + 5, 1);
  EXPECT_THAT(runs(), ElementsAre(Range{0, 2 * kChunk}, Range{3 * kChunk, 4 * kChunk}));
  expect_blocks(20);
}

TEST_F(AllocationTest, AFileWithoutHoles_HasNoneWithin) {
  write(0, 3 * kChunk + 10);
  must(file_->fallocate(0, 3 * kChunk + 10));
  EXPECT_THAT(runs(), ElementsAre(Range{3 * kChunk + 10, 3 * kChunk + kBlock}));
  expect_blocks(3 * 4 + 1);
  // The allocated part becomes content when the file grows over it.
  must(file_->truncate(3 * kChunk + 2 * kBlock, TimeUpdate::kNow));
  EXPECT_THAT(runs(), IsEmpty());
  write(5 * kChunk, 1);
  must(file_->fallocate(3 * kChunk, 2 * kChunk));
  EXPECT_THAT(runs(), ElementsAre(Range{4 * kChunk, 5 * kChunk}));
}

TEST_F(AllocationTest, Punching_TakesWholeBlocksAway) {
  must(file_->truncate(6 * kBlock + 100, TimeUpdate::kNow));
  must(file_->fallocate(0, 8 * kBlock));
  must(file_->zero(kBlock + 1, 2 * kBlock, TimeUpdate::kNow));
  EXPECT_THAT(runs(), ElementsAre(Range{0, 2 * kBlock}, Range{3 * kBlock, 8 * kBlock}));
  expect_blocks(7);
  must(file_->zero(5 * kBlock, kChunk * kBlock, TimeUpdate::kNow));
  EXPECT_THAT(runs(), ElementsAre(Range{0, 2 * kBlock}, Range{3 * kBlock, 5 * kBlock},
                                  Range{7 * kBlock, 8 * kBlock}));
  expect_blocks(5);
}

TEST_F(AllocationTest, HolesThatNobodyKnows_StayHoles_WhereTheFileIsCutAndGrows) {
  must(file_->truncate(2 * kBlock, TimeUpdate::kNow));
  must(file_->fallocate(0, 2 * kBlock));
  expect_blocks(2);
  must(file_->truncate(3 * kChunk + 5, TimeUpdate::kNow));
  expect_blocks(2);
  must(file_->fallocate(kChunk, 1));
  must(file_->truncate(kChunk + 100, TimeUpdate::kNow));
  expect_blocks(3);
  EXPECT_EQ(file(id_).stored_chunks, 0);
  write(5 * kChunk, 1);
  expect_blocks(3 + kChunk / kBlock);
  EXPECT_EQ(file(id_).stored_chunks, 1);
}

TEST_F(AllocationTest, MoreRangesThanAreKept_DoNotCount) {
  constexpr int64_t kRanges = 2 * static_cast<int64_t>(AllocatedRanges::kRunsMax);
  must(file_->truncate(2 * kRanges * kBlock, TimeUpdate::kNow));
  for (int64_t i = 0; i < kRanges; ++i) must(file_->fallocate(2 * i * kBlock, 1));
  expect_blocks(kRanges / 2);
  must(file_->fallocate(0, 2 * kRanges * kBlock));
  expect_blocks(2 * kRanges);
}

TEST_F(AllocationTest, OtherAttributes_LeaveItAlone) {
  must(file_->truncate(kChunk, TimeUpdate::kNow));
  must(file_->fallocate(0, kChunk));
  must(file_->flush());
  PosixFields changes;
  changes.mode = 0100600;
  must(file_->set_posix(changes));
  file_->set_times({1, 0}, {2, 0});
  expect_blocks(4);
  // A separate content has none of the allocation.
  const bson::Document next =
      continued(*files_document(id_), bson::Value(7), bson::Date{1}, std::nullopt);
  const FilesDocument parsed = must(FilesDocument::parse(next));
  EXPECT_TRUE(parsed.allocated.empty());
  EXPECT_EQ(parsed.posix.mode, 0100600U);
}

TEST_F(AllocationTest, NumbersThatAreNone_CountAsNothing) {
  const auto parsed = [](const std::vector<bson::Value>& numbers) {
    bson::Builder document;
    document.append("_id", 1).append("length", 10).append("chunkSize", 10);
    document.open_document("metadata").open_document("posix").open_array("allocated");
    for (const bson::Value& number : numbers) document.push(number.view());
    document.close().close().close();
    return must(FilesDocument::parse(std::move(document).finish())).allocated.runs();
  };
  EXPECT_THAT(parsed({bson::Value(0), bson::Value(int64_t{5}), bson::Value(7.0), bson::Value(9)}),
              ElementsAre(Range{0, 5}, Range{7, 9}));
  EXPECT_THAT(parsed({bson::Value(0), bson::Value(5), bson::Value(9)}), IsEmpty());
  EXPECT_THAT(parsed({bson::Value(5), bson::Value(0)}), IsEmpty());
  EXPECT_THAT(parsed({bson::Value(-5), bson::Value(0)}), IsEmpty());
  EXPECT_THAT(parsed({bson::Value("0"), bson::Value(5)}), IsEmpty());
  EXPECT_THAT(parsed({bson::Value(0), bson::Value(INT64_MAX)}), IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
