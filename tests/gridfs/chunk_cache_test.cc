// Goal: chunks that are kept or fetched ahead equal those that the store would return, whoever
// changes them. They save requests and stay within their memory. Their errors and delays do not
// reach readers.
// Method: files on a FakeDeployment over a local store. Each fetch takes a snapshot, so the
// FakeDeployment counts, blocks and refuses fetches.

#include "gridfs/content/chunk_cache.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "gridfs/bucket/chunk_document.h"
#include "tests/gridfs/deployment_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForEver = std::chrono::hours(1);
constexpr int32_t kChunk = 64 * 1024;

class ChunkCacheTest : public DeploymentFixture {
 protected:
  ChunkCacheTest() : DeploymentFixture(kChunk) {}
  ~ChunkCacheTest() override {
    deployment_.block_fetches(false);
    files_.reset();
  }

  void start(const ChunkCacheOptions& options = {.fresh_for = kForEver}) { make_files(options); }
  std::shared_ptr<File> open(const bson::Value& id) { return must(files_->open(id)); }
  static std::string read(File& file, int64_t offset, size_t size) {
    return text_of(must(file.read(offset, size)));
  }
  // Reads in pieces, as the kernel does.
  std::string read_in_order(File& file, size_t piece = kChunk / 2) {
    std::string all;
    while (true) {
      const std::string part = read(file, static_cast<int64_t>(all.size()), piece);
      if (part.empty()) return all;
      all += part;
    }
  }
  // Each fetch takes a snapshot.
  int fetches_of(const std::function<void()>& work) const { return snapshots_of(work); }
  void wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_TRUE(condition());
  }
};

TEST_F(ChunkCacheTest, PartsOfOneChunk_AreFetchedOnce) {
  start();
  const bson::Value id = upload_chunks(1);
  const auto file = open(id);
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read_in_order(*file, 1000), content_); }), 1);
}

TEST_F(ChunkCacheTest, SmallFileThatIsOpenedToRead_ComesWithItsContent) {
  start();
  const bson::Value id = upload_chunks(1);
  std::shared_ptr<File> file;
  const auto open_and_read = [&] {
    file = must(files_->open_to_read(id));
    EXPECT_EQ(read_in_order(*file, 1000), content_);
  };
  EXPECT_EQ(fetches_of(open_and_read), 1);
  EXPECT_EQ(cache_->bytes_in_use(), content_.size());
  replace_content(id);
  EXPECT_EQ(fetches_of(open_and_read), 2) << "it was open";
  file.reset();
  EXPECT_EQ(cache_->bytes_in_use(), 0U);
  replace_content(id);
  EXPECT_EQ(fetches_of(open_and_read), 1);
}

TEST_F(ChunkCacheTest, FirstChunkOfALargerFile_ComesWithIt) {
  start();
  const bson::Value id = upload_chunks(3);
  const auto file = must(files_->open_to_read(id));
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read(*file, 0, 1000), content_.substr(0, 1000)); }), 0);
  EXPECT_EQ(read_in_order(*file), content_);
}

TEST_F(ChunkCacheTest, FirstChunkThatIsLarge_IsReadWhenItIsNeeded) {
  start();
  content_ = random_bytes(random_, 65'537);
  const bson::Value id = upload("large", content_);
  const auto file = must(files_->open_to_read(id));
  EXPECT_EQ(cache_->bytes_in_use(), 0U);
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read_in_order(*file), content_); }), 1);
}

TEST_F(ChunkCacheTest, FilesWithoutASoundFirstChunk_AreOpenedToRead) {
  start();
  EXPECT_EQ(read_in_order(*must(files_->open_to_read(upload("empty", "")))), "");
  const bson::Value id = upload_chunks(1);
  change([&](engine::Transaction& transaction) {
    must(bucket().chunks().remove(transaction, bson::View(), true));
  });
  EXPECT_EQ(code_of(must(files_->open_to_read(id))->read(0, 10)), kChunkIsMissing);
  EXPECT_EQ(code_of(files_->open_to_read(bson::Value("no file"))), kFileNotFound);
}

TEST_F(ChunkCacheTest, ReadOfManyChunks_IsOneFetch) {
  start();
  const bson::Value id = upload_chunks(16);
  const auto file = open(id);
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read_all(*file), content_); }), 1);
  EXPECT_EQ(
      fetches_of([&] { EXPECT_EQ(read(*file, 5 * kChunk, 10), content_.substr(5 * kChunk, 10)); }),
      0);
}

TEST_F(ChunkCacheTest, ReadInOrder_TakesFewFetches) {
  start();
  const bson::Value id = upload_chunks(200);
  const auto file = open(id);
  EXPECT_LE(fetches_of([&] { EXPECT_EQ(read_in_order(*file), content_); }), 50);
}

TEST_F(ChunkCacheTest, ReadInOrder_IsFetchedAheadByThreads) {
  start();
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  const int before = deployment_.snapshots();
  EXPECT_EQ(read(*file, 0, kChunk / 2), content_.substr(0, kChunk / 2));
  EXPECT_EQ(deployment_.snapshots(), before + 1);
  EXPECT_EQ(read(*file, kChunk / 2, kChunk / 2), content_.substr(kChunk / 2, kChunk / 2));
  wait_for([&] { return deployment_.snapshots() == before + 2; });
  wait_for([&] { return cache_->bytes_in_use() == 8 * kChunk; });
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read_in_order(*file), content_); }), 0);
}

TEST_F(ChunkCacheTest, WithoutThreads_OnlyWhatIsReadIsFetched) {
  start({.fresh_for = kForEver, .threads_max = 0});
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  EXPECT_EQ(fetches_of([&] { EXPECT_EQ(read_in_order(*file), content_); }), 8);
}

TEST_F(ChunkCacheTest, WhoNeedsWhatIsBeingFetched_WaitsForIt) {
  start();
  const bson::Value id = upload_chunks(4);
  const auto file = open(id);
  deployment_.block_fetches(true);
  read(*file, 0, 10);
  read(*file, 10, 10);
  wait_for([&] { return deployment_.waiting() == 1; });
  const int before = deployment_.snapshots();
  std::string found;
  std::thread reader([&] { found = read(*file, kChunk, 2 * kChunk); });
  deployment_.block_fetches(false);
  reader.join();
  EXPECT_EQ(found, content_.substr(kChunk, 2 * kChunk));
  EXPECT_EQ(deployment_.snapshots(), before);
}

TEST_F(ChunkCacheTest, ErrorsOfFetchingAhead_AreNotThoseOfReaders) {
  start();
  const bson::Value id = upload_chunks(100);
  const auto file = open(id);
  deployment_.fail_fetches();
  EXPECT_EQ(read_in_order(*file), content_);
}

TEST_F(ChunkCacheTest, ContentOfAnother_IsShownAfterOpening) {
  start();
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  EXPECT_EQ(read_in_order(*file), content_);
  replace_content(id);
  const auto again = open(id);
  EXPECT_EQ(read_in_order(*again), content_);
  EXPECT_EQ(read_in_order(*file), content_);
}

TEST_F(ChunkCacheTest, OldContentThatArrivesAfterOpening_IsNotShown) {
  start();
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  deployment_.block_fetches(true);
  read(*file, 0, 10);
  read(*file, 10, 10);
  // The fetch has its snapshot, which shows the old content.
  wait_for([&] { return deployment_.waiting() == 1; });
  replace_content(id);
  const auto again = open(id);
  deployment_.block_fetches(false);
  EXPECT_EQ(read_in_order(*again), content_);
  wait_for([&] { return deployment_.waiting() == 0; });
  EXPECT_EQ(read_in_order(*again), content_);
}

TEST_F(ChunkCacheTest, WhatIsTooOld_IsNotShown) {
  start({.fresh_for = milliseconds(0)});
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  const std::string before = content_;
  EXPECT_EQ(read(*file, 0, kChunk), before.substr(0, kChunk));
  EXPECT_EQ(read(*file, kChunk, kChunk), before.substr(kChunk, kChunk));
  wait_for([&] { return cache_->bytes_in_use() == 0; });
  replace_content(id);
  EXPECT_EQ(read(*file, 2 * kChunk, kChunk), content_.substr(2 * kChunk, kChunk));
  EXPECT_EQ(read(*file, 0, 10), content_.substr(0, 10));
}

TEST_F(ChunkCacheTest, FileThatIsReplacedUnderItsName_IsAnother) {
  start();
  const bson::Value id = upload_chunks(4);
  EXPECT_EQ(read_in_order(*open(id)), content_);
  must(bucket().remove(id));
  UploadOptions same;
  same.id = id;
  same.chunk_bytes = kChunk;
  content_ = random_bytes(random_, content_.size());
  upload("file", content_, same);
  EXPECT_EQ(read_in_order(*open(id)), content_);
}

TEST_F(ChunkCacheTest, OwnChanges_AreShown) {
  start();
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  EXPECT_EQ(read_in_order(*file), content_);
  const auto change = [&](size_t offset, const std::string& bytes) {
    must(write(*file, static_cast<int64_t>(offset), bytes));
    content_.replace(offset, bytes.size(), bytes);
  };
  change(3 * kChunk + 5, "written");
  EXPECT_EQ(read_in_order(*file), content_);
  must(file->flush());
  EXPECT_EQ(read_in_order(*file), content_);
  must(file->zero(kChunk, 2 * kChunk, TimeUpdate::kNow));
  content_.replace(kChunk, 2 * kChunk, 2 * kChunk, '\0');
  EXPECT_EQ(read_in_order(*file), content_);
  must(file->truncate(4 * kChunk + 10, TimeUpdate::kNow));
  must(file->flush());
  must(file->truncate(6 * kChunk, TimeUpdate::kNow));
  content_.resize(4 * kChunk + 10);
  content_.resize(6 * kChunk);
  EXPECT_EQ(read_in_order(*file), content_);
  must(file->flush());
  EXPECT_EQ(read_in_order(*file), content_);
  EXPECT_EQ(read_in_order(*open(id)), content_);
  EXPECT_EQ(must(download(id)), content_);
}

TEST_F(ChunkCacheTest, ChunksThatAreMissingOrShort_AreErrors) {
  start();
  const bson::Value id = upload_chunks(6);
  change([&](engine::Transaction& transaction) {
    must(bucket().chunks().remove(transaction, chunk_range(id, 2, 4), true));
  });
  insert_chunk(id.view(), 3, "short");
  const auto file = open(id);
  EXPECT_EQ(read(*file, 0, 2 * kChunk), content_.substr(0, 2 * kChunk));
  EXPECT_EQ(code_of(file->read(2 * kChunk, 10)), kChunkIsMissing);
  EXPECT_EQ(code_of(file->read(3 * kChunk, 10)), kChunkIsWrongSize);
  EXPECT_EQ(read(*file, 4 * kChunk, kChunk), content_.substr(4 * kChunk, kChunk));
}

TEST_F(ChunkCacheTest, FileThatWasDeleted_IsAnErrorWhereItIsNotKept) {
  start({.fresh_for = kForEver, .threads_max = 0});
  const bson::Value id = upload_chunks(4);
  const auto file = open(id);
  read(*file, 0, 10);
  must(bucket().remove(id));
  EXPECT_EQ(read(*file, 0, 10), content_.substr(0, 10));
  EXPECT_EQ(code_of(file->read(kChunk, 10)), kFileDeleted);
}

TEST_F(ChunkCacheTest, Memory_IsBoundedForAllFilesTogether) {
  constexpr uint64_t kBytesMax = 2 * 1024 * 1024;
  start({.bytes_max = kBytesMax, .fresh_for = kForEver});
  std::vector<std::string> contents;
  std::vector<std::shared_ptr<File>> open_files;
  for (int i = 0; i < 5; ++i) {
    open_files.push_back(open(upload_chunks(50)));
    contents.push_back(content_);
  }
  for (size_t at = 0; at < contents[0].size(); at += 10'000) {
    for (size_t i = 0; i < contents.size(); ++i) {
      ASSERT_EQ(read(*open_files[i], static_cast<int64_t>(at), 10'000),
                contents[i].substr(at, 10'000));
      ASSERT_LE(cache_->bytes_in_use(), kBytesMax);
    }
  }
  open_files.clear();
  wait_for([&] { return cache_->bytes_in_use() == 0; });
}

TEST_F(ChunkCacheTest, ChunkThatIsLargerThanTheMemory_IsRead) {
  start({.bytes_max = kChunk / 2, .fresh_for = kForEver});
  const bson::Value id = upload_chunks(4);
  const auto file = open(id);
  EXPECT_EQ(read_in_order(*file), content_);
  EXPECT_EQ(cache_->bytes_in_use(), 0U);
}

TEST_F(ChunkCacheTest, End_LeavesReadersToThemselves) {
  start();
  const bson::Value id = upload_chunks(8);
  const auto file = open(id);
  deployment_.block_fetches(true);
  read(*file, 0, 10);
  read(*file, 10, 10);
  wait_for([&] { return deployment_.waiting() == 1; });
  EXPECT_FALSE(cache_->end(milliseconds(1)));
  EXPECT_EQ(read_in_order(*file), content_);
  deployment_.block_fetches(false);
  EXPECT_TRUE(cache_->end(kForEver));
  EXPECT_EQ(read_in_order(*file), content_);
}

// Small chunks and little memory, so that all that can happen to chunks happens often.
TEST_F(ChunkCacheTest, RandomReadsAndChanges) {
  start({.bytes_max = 64 * 1024, .fresh_for = milliseconds(2), .threads_max = 3});
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const auto others = FileTable::create(bucket(), {});
  struct Modelled {
    bson::Value id;
    std::string content;
    std::shared_ptr<File> open;
    size_t at = 0;
  };
  std::vector<Modelled> all;
  for (const int chunk_bytes : {7, 1000, 4096}) {
    all.push_back({create("f" + std::to_string(chunk_bytes), chunk_bytes), "", nullptr});
  }
  for (int round = 0; round < random_rounds(3000); ++round) {
    const size_t index = below(all.size());
    Modelled& file = all[index];
    const size_t extent = index == 0 ? 2'000 : 100'000;
    if (!file.open) file.open = open(file.id);
    const size_t offset = below(extent);
    const std::string data = random_bytes(random, 1 + below(extent / 4));
    const auto put = [&](File& into) {
      must(write(into, static_cast<int64_t>(offset), data));
      if (file.content.size() < offset + data.size()) file.content.resize(offset + data.size());
      file.content.replace(offset, data.size(), data);
    };
    switch (below(10)) {
      case 0:
        put(*file.open);
        break;
      case 1: {
        must(file.open->truncate(static_cast<int64_t>(offset), TimeUpdate::kNow));
        file.content.resize(offset);
        break;
      }
      case 2:
        must(file.open->zero(static_cast<int64_t>(offset), static_cast<int64_t>(data.size()),
                             TimeUpdate::kNow));
        if (offset < file.content.size()) {
          const size_t zeros = std::min(data.size(), file.content.size() - offset);
          file.content.replace(offset, zeros, std::string(zeros, '\0'));
        }
        break;
      case 3: {
        // Another process writes to the file, and this process opens the file afterwards.
        must(file.open->flush());
        {
          const auto theirs = must(others->open(file.id));
          put(*theirs);
          must(theirs->flush());
        }
        if (below(2) == 0) file.open.reset();
        file.open = open(file.id);
        break;
      }
      case 4:
        must(file.open->flush());
        break;
      default: {
        // Reads mostly in order.
        if (below(5) == 0 || file.at >= file.content.size()) file.at = offset;
        const size_t size = 1 + below(extent / 8);
        const std::string expected =
            file.at < file.content.size() ? file.content.substr(file.at, size) : "";
        ASSERT_EQ(read(*file.open, static_cast<int64_t>(file.at), size), expected)
            << "round " << round;
        file.at += size;
      }
    }
  }
  for (Modelled& file : all) file.open.reset();
  must(others->close(milliseconds(0)));
  must(files_->close(milliseconds(0)));
  for (const Modelled& file : all) EXPECT_EQ(must(download(file.id)), file.content);
  EXPECT_THAT(problems(), testing::IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
