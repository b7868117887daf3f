// Goal: a file holds what was written to it, in whatever order, and each commit in the store is one
// state of it.
// Method: random writes, truncations, holes, reads, flushes and closes on several files with small
// chunks and little memory, compared with strings. The documents are checked on the way.

#include <gmock/gmock.h>

#include "engine/binary_overwrite.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;

struct ModelledSize {
  int chunk_bytes = 0;
  size_t extent = 0;           // offsets and lengths are below it
  size_t write_bytes_max = 0;  // of one write
  bool in_blocks = false;      // most writes are of whole blocks, as those of databases
};

class FileModelTest : public BucketFixture {
 protected:
  void change_randomly(const FileTableOptions& options, const std::vector<ModelledSize>& sizes,
                       int rounds);

  // Checks that holes and data alternate up to the end, and that holes read as zeros.
  static void check_holes(File& file, const std::string& content) {
    const auto size = static_cast<int64_t>(content.size());
    for (int64_t at = 0; at < size;) {
      const int64_t data = must(file.next_data(at)).value_or(size);
      ASSERT_GE(data, at);
      ASSERT_EQ(content.substr(at, data - at), std::string(data - at, '\0'));
      if (data == size) break;
      at = must(file.next_hole(data)).value_or(-1);
      ASSERT_GT(at, data);
      ASSERT_LE(at, size);
    }
    EXPECT_EQ(must(file.next_data(size)), std::nullopt);
    EXPECT_EQ(must(file.next_hole(size)), std::nullopt);
  }
};

void FileModelTest::change_randomly(const FileTableOptions& options,
                                    const std::vector<ModelledSize>& sizes, int rounds) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  auto files = FileTable::create(bucket(), options);
  struct Modelled {
    bson::Value id;
    std::string content;
    std::shared_ptr<File> open;
  };
  std::vector<Modelled> all;
  for (const ModelledSize& size : sizes) {
    all.push_back({create("f" + std::to_string(size.chunk_bytes), size.chunk_bytes), "", nullptr});
  }
  for (int round = 0; round < random_rounds(rounds); ++round) {
    const size_t index = below(all.size());
    Modelled& file = all[index];
    const size_t extent = sizes[index].extent;
    if (!file.open) file.open = must(files->open(file.id));
    switch (below(11)) {
      case 0:
      case 1:
      case 2: {
        size_t offset = below(extent);
        size_t bytes = 1 + below(sizes[index].write_bytes_max);
        if (sizes[index].in_blocks && below(5) > 0) {
          offset -= offset % engine::kOverwriteBlockBytes;
          bytes += engine::kOverwriteBlockBytes - bytes % engine::kOverwriteBlockBytes;
        }
        const std::string data = random_bytes(random, bytes);
        must(write(*file.open, static_cast<int64_t>(offset), data));
        if (file.content.size() < offset + data.size()) file.content.resize(offset + data.size());
        file.content.replace(offset, data.size(), data);
        break;
      }
      case 3: {
        const size_t length = below(extent);
        must(file.open->truncate(static_cast<int64_t>(length), TimeUpdate::kNow));
        file.content.resize(length);
        break;
      }
      case 4:
        must(file.open->flush());
        ASSERT_EQ(must(download(file.id)), file.content);
        ASSERT_EQ(this->file(file.id).stored_chunks.has_value(), this->file(file.id).sparse);
        ASSERT_EQ(this->file(file.id).stored_chunks, file.open->document().stored_chunks);
        ASSERT_EQ(this->file(file.id).allocated, file.open->document().allocated);
        break;
      case 5:
        file.open.reset();
        continue;
      case 6: {
        const size_t offset = below(extent);
        const size_t size = below(extent);
        must(file.open->zero(static_cast<int64_t>(offset), static_cast<int64_t>(size),
                             TimeUpdate::kNow));
        if (offset < file.content.size()) {
          const size_t zeros = std::min(size, file.content.size() - offset);
          file.content.replace(offset, zeros, std::string(zeros, '\0'));
        }
        break;
      }
      case 7:
        must(file.open->fallocate(static_cast<int64_t>(below(extent)),
                                  static_cast<int64_t>(1 + below(extent / 4))));
        break;
      case 8:
        ASSERT_NO_FATAL_FAILURE(check_holes(*file.open, file.content)) << "round " << round;
        break;
      default: {
        const size_t offset = below(extent);
        const size_t size = below(extent);
        const std::string expected =
            offset < file.content.size() ? file.content.substr(offset, size) : "";
        ASSERT_EQ(text_of(must(file.open->read(static_cast<int64_t>(offset), size))), expected)
            << "round " << round;
      }
    }
    ASSERT_EQ(file.open->length(), static_cast<int64_t>(file.content.size()));
    if (round % 20 == 0) {
      // Everything committed so far is consistent.
      ASSERT_THAT(problems(), IsEmpty()) << "round " << round;
    }
  }
  must(files->close(std::chrono::seconds(10)));
  for (Modelled& file : all) {
    ASSERT_EQ(must(download(file.id)), file.content);
    const std::optional<std::string> md5 = this->file(file.id).md5;
    EXPECT_TRUE(!md5 || *md5 == md5_of(file.content)) << "a stale md5";
    file.open.reset();
  }
  files.reset();
  EXPECT_THAT(problems(), IsEmpty());
  reopen();
  for (const Modelled& file : all) ASSERT_EQ(must(download(file.id)), file.content);
}

TEST_F(FileModelTest, RandomChanges) {
  FileTableOptions options;
  options.dirty_bytes_max = 64 * 1024;
  options.commit_bytes = 16 * 1024;
  options.commit_interval = std::chrono::milliseconds(5);
  // Smaller writes for smaller chunks.
  change_randomly(options,
                  {{1, 200, 50},
                   {7, 1000, 250},
                   {256, 20'000, 5000},
                   {1000, 20'000, 5000},
                   {4096, 20'000, 5000}},
                  3000);
}

// The store keeps small changes of such chunks as patches.
TEST_F(FileModelTest, RandomSmallChanges_OfLargeChunks) {
  FileTableOptions options;
  options.dirty_bytes_max = 2 * 1024 * 1024;
  options.commit_bytes = 512 * 1024;
  options.commit_interval = std::chrono::milliseconds(5);
  change_randomly(options, {{64 * 1024, 100'000, 3000}, {100'001, 150'000, 6000}}, 1000);
}

// Blocks are written to chunks that are not read before.
TEST_F(FileModelTest, RandomBlocks_OfLargeChunks) {
  FileTableOptions options;
  options.dirty_bytes_max = 2 * 1024 * 1024;
  options.commit_bytes = 512 * 1024;
  options.commit_interval = std::chrono::milliseconds(5);
  change_randomly(options, {{64 * 1024, 400'000, 9000, true}, {128 * 1024, 600'000, 4000, true}},
                  1500);
}

}  // namespace
}  // namespace gridmount::gridfs
