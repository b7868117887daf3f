// Goal: blocks that are written to a chunk without reading it first are stored. If that fails, the
// error is reported and prevents nothing else. Both hold whatever happens to the stored chunk
// before the commit.
// Method: a real store, in which chunks and files are removed or replaced as drivers do.

#include <gtest/gtest.h>

#include "engine/binary_overwrite.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

class BlockWriteTest : public BucketFixture {
 protected:
  static constexpr uint32_t kChunk = 64 * 1024;
  static constexpr uint32_t kBlock = engine::kOverwriteBlockBytes;

  std::unique_ptr<FileTable> table() { return FileTable::create(bucket(), {}); }
  bson::Value upload_chunks(int64_t count) {
    return upload("a", std::string(static_cast<size_t>(count) * kChunk, 'a'),
                  {std::nullopt, kChunk, {}, std::nullopt});
  }
  void remove_chunk(int32_t n) {
    change([&](engine::Transaction& transaction) {
      bson::Builder filter;
      filter.append("n", n);
      must(bucket().chunks().remove(transaction, std::move(filter).finish(), false));
    });
  }
};

TEST_F(BlockWriteTest, FileDeletedInTheStore_IsSaidOnce) {
  const auto files = table();
  const bson::Value id = upload_chunks(2);
  const auto file = must(files->open(id));
  must(write(*file, 0, std::string(kBlock, 'x')));
  must(bucket().remove(id));
  EXPECT_EQ(code_of(file->read(kBlock, 10)), kFileDeleted);
  EXPECT_EQ(code_of(file->flush()), kFileDeleted);
  EXPECT_EQ(code_of(file->flush()), std::nullopt);
  EXPECT_EQ(code_of(write(*file, 0, "x")), kFileDeleted);
}

TEST_F(BlockWriteTest, ChunkRemovedMeanwhile_FailsOneCommit_AndTheOtherChunksAreStored) {
  const auto files = table();
  const bson::Value id = upload_chunks(3);
  const auto file = must(files->open(id));
  must(write(*file, 0, std::string(kBlock, 'x')));
  must(write(*file, kChunk, std::string(kBlock, 'y')));
  remove_chunk(0);
  EXPECT_EQ(code_of(file->flush()), kChunkIsMissing);
  must(file->flush());
  EXPECT_EQ(text_of(must(file->read(kChunk, kBlock + 1))), std::string(kBlock, 'y') + "a");
  EXPECT_EQ(code_of(write(*file, 0, std::string(kBlock, 'x'))), kChunkIsMissing);
  must(write(*file, 0, std::string(kChunk, 'z')));
  must(file->flush());
  EXPECT_EQ(must(download(id)), std::string(kChunk, 'z') + std::string(kBlock, 'y') +
                                    std::string(2 * kChunk - kBlock, 'a'));
}

TEST_F(BlockWriteTest, WholeChunkAfterAPart_ReplacesAChunkThatIsMissingByNow) {
  const auto files = table();
  const bson::Value id = upload_chunks(1);
  const auto file = must(files->open(id));
  must(write(*file, kBlock, std::string(kBlock, 'x')));
  remove_chunk(0);
  must(write(*file, 0, std::string(kChunk, 'z')));
  must(file->flush());
  EXPECT_EQ(must(download(id)), std::string(kChunk, 'z'));
}

TEST_F(BlockWriteTest, ChunkOfAnotherSubtype_IsReadAndReplaced) {
  const bson::Value id = upload_chunks(1);
  std::string bytes(kChunk, 'b');
  change([&](engine::Transaction& transaction) {
    bson::Builder update;
    update.open_document("$set")
        .append("data", bson::Binary{5, bytes_of(bytes).data(), kChunk})
        .close();
    must(bucket().chunks().update(transaction, bson::View(), std::move(update).finish()));
  });
  const auto files = table();
  const auto file = must(files->open(id));
  must(write(*file, kBlock, std::string(kBlock, 'x')));
  must(file->flush());
  EXPECT_EQ(must(download(id)), bytes.replace(kBlock, kBlock, std::string(kBlock, 'x')));
}

}  // namespace
}  // namespace gridmount::gridfs
