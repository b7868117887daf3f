// Goal: with a cache on disk, a file that is read again costs no chunks of the store, and nobody
// reads content that the file does not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "engine/disk_cache/disk_cache.h"
#include "gridfs/content/chunk_cache.h"
#include "gridfs/content/file.h"
#include "tests/gridfs/deployment_fixture.h"
#include "tests/temporary_folder.h"

namespace gridmount::gridfs {
namespace {

using std::chrono::milliseconds;

constexpr int kSmallChunk = 4096;
constexpr milliseconds kNeverOld = std::chrono::hours(1);

class DiskCachedFileTest : public DeploymentFixture {
 protected:
  DiskCachedFileTest() : DeploymentFixture(kSmallChunk) {}
  ~DiskCachedFileTest() override { end(); }

  void end() {
    if (files_) must(files_->close(milliseconds(0)));
    files_.reset();
    cache_.reset();
    if (disk_) {
      disk_->flush();
      hits_ += disk_->usage().hits;
    }
    disk_.reset();
  }
  // Starts as a new mount does, with nothing in memory.
  void start(milliseconds fresh_for = kNeverOld, const std::string& deployment = "here") {
    end();
    disk_ = must(DiskCache::open({folder_.path() / "cache", 1 << 30, {}}));
    ChunkCacheOptions options;
    options.fresh_for = fresh_for;
    options.threads_max = 0;
    options.disk = disk_;
    options.deployment = deployment;
    make_files(options);
  }
  std::string read(const bson::Value& id) { return read(*must(files_->open(id))); }
  static std::string read(File& file) {
    return text_of(must(file.read(0, static_cast<size_t>(file.length()))));
  }
  // Opening the file costs one command, for its files document.
  int commands_of(const std::function<void()>& work) {
    disk_->flush();
    return snapshots_of(work);
  }

  const TemporaryFolder folder_;
  std::shared_ptr<DiskCache> disk_;
  uint64_t hits_ = 0;  // of all caches that were closed
};

TEST_F(DiskCachedFileTest, ReadAgain_ComesFromTheDisk) {
  start();
  const bson::Value id = upload_chunks(20);
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 2);
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 1);
  start();
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 1);
  EXPECT_EQ(disk_->usage().hits, 20U);
}

TEST_F(DiskCachedFileTest, WhatTheDiskDoesNotHave_TakesOneCommand) {
  start();
  const bson::Value id = upload_chunks(20);
  const auto read_part = [&](int first, int count) {
    const auto file = must(files_->open(id));
    const size_t at = static_cast<size_t>(first) * kSmallChunk;
    const size_t size = static_cast<size_t>(count) * kSmallChunk;
    EXPECT_EQ(text_of(must(file->read(static_cast<int64_t>(at), size))), content_.substr(at, size));
  };
  read_part(0, 4);
  read_part(15, 3);
  start();
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 2);
  start();
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 1);
}

TEST_F(DiskCachedFileTest, ContentOfAnother_IsShown) {
  start();
  const bson::Value id = upload_chunks(8);
  EXPECT_EQ(read(id), content_);
  for (int turn = 0; turn < 3; ++turn) {
    {
      const auto file = must(files_->open(id));
      EXPECT_EQ(read(*file), content_);
      replace_content(id);
      EXPECT_EQ(read(id), content_);
      EXPECT_EQ(read(*file), content_);
    }
    start();
    EXPECT_EQ(read(id), content_);
  }
}

TEST_F(DiskCachedFileTest, FileThatIsReplacedUnderItsName_IsAnother) {
  start();
  const bson::Value id = upload_chunks(4);
  EXPECT_EQ(read(id), content_);
  disk_->flush();
  must(bucket().remove(id));
  UploadOptions same;
  same.id = id;
  same.chunk_bytes = kSmallChunk;
  content_ = random_bytes(random_, content_.size());
  upload("file", content_, same);
  EXPECT_EQ(read(id), content_);
}

TEST_F(DiskCachedFileTest, OtherDeployment_HasOtherFiles) {
  start();
  const bson::Value id = upload_chunks(4);
  EXPECT_EQ(read(id), content_);
  start(kNeverOld, "there");
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(id), content_); }), 2);
}

// A program keeps the file open and does not ask for its attributes.
TEST_F(DiskCachedFileTest, OpenFile_IsAskedForAgainWhenItsDocumentIsOld) {
  start(milliseconds(0));
  const bson::Value id = upload_chunks(8);
  {
    const auto file = must(files_->open(id));
    EXPECT_EQ(read(*file), content_);
    replace_content(id);
    EXPECT_EQ(read(*file), content_);
  }
  start(milliseconds(200));
  const auto file = must(files_->open(id));
  EXPECT_EQ(read(*file), content_);
  disk_->flush();
  std::this_thread::sleep_for(milliseconds(250));
  EXPECT_EQ(commands_of([&] { EXPECT_EQ(read(*file), content_); }), 1) << "for its document";
}

TEST_F(DiskCachedFileTest, DamagedEntries_AreReadFromTheStore) {
  start();
  const bson::Value id = upload_chunks(8);
  EXPECT_EQ(read(id), content_);
  start();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.is_regular_file() && entry.file_size() > kSmallChunk / 2) {
      std::filesystem::resize_file(entry.path(), entry.file_size() - 1);
    }
  }
  EXPECT_EQ(read(id), content_);
}

// There are two mounts, each with a disk, and programs that read and change files through both.
TEST_F(DiskCachedFileTest, RandomChanges_AreRead) {
  constexpr int kFiles = 3;
  start();
  std::vector<bson::Value> ids;
  std::vector<std::string> contents;
  for (int i = 0; i < kFiles; ++i) {
    ids.push_back(upload_chunks(1 + static_cast<int>(random_() % 10)));
    contents.push_back(content_);
  }
  for (int turn = 0; turn < 400; ++turn) {
    const size_t i = random_() % kFiles;
    std::string& content = contents[i];
    const auto change = [&](FileTable& files) {
      const auto file = must(files.open(ids[i]));
      const size_t at = random_() % (content.size() + 1);
      switch (random_() % 3) {
        case 0: {
          const std::string bytes = random_bytes(random_, 1 + random_() % (2 * kSmallChunk));
          must(write(*file, static_cast<int64_t>(at), bytes));
          content.replace(at, std::min(bytes.size(), content.size() - at), bytes);
          break;
        }
        case 1:
          must(file->truncate(static_cast<int64_t>(at), TimeUpdate::kNow));
          content.resize(at);
          break;
        case 2:
          must(file->zero(static_cast<int64_t>(at), static_cast<int64_t>(content.size() - at),
                          TimeUpdate::kNow));
          std::fill(content.begin() + static_cast<ptrdiff_t>(at), content.end(), '\0');
          break;
      }
      if (random_() % 2 == 0) {
        EXPECT_EQ(read(*file), content);
      }
      must(file->flush());
    };
    switch (random_() % 6) {
      case 0:
        change(*files_);
        break;
      case 1: {
        const auto others = FileTable::create(bucket(), {});
        change(*others);
        must(others->close(milliseconds(0)));
        break;
      }
      case 2:
        start();
        break;
      default:
        ASSERT_EQ(read(ids[i]), content) << turn;
    }
  }
  end();
  EXPECT_GT(hits_, 0U);
}

}  // namespace
}  // namespace gridmount::gridfs
