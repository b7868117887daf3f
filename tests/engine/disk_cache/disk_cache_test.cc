// Goal: a cache on disk returns the content that was kept under a key, or nothing. It stays within
// its limit, outlives its process, and never harms a folder that is not a cache.
#include "engine/disk_cache/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/must.h"
#include "tests/temporary_folder.h"

namespace gridmount {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DiskCacheTest : public ::testing::Test {
 protected:
  void open(uint64_t bytes_max = 1 << 20) {
    cache_.reset();
    cache_ = must(DiskCache::open({folder(), bytes_max, {}}));
  }
  fs::path folder() const { return temporary_.path() / "cache"; }
  static DiskCache::Content content(const std::string& text) {
    return std::make_shared<const std::vector<uint8_t>>(text.begin(), text.end());
  }
  void keep(const std::string& key, const std::string& text) {
    cache_->keep(key, content(text));
    cache_->flush();
  }
  // "nothing" if the cache does not have it.
  std::string found(const std::string& key) {
    const DiskCache::Content content = cache_->find(key);
    return content ? std::string(content->begin(), content->end()) : "nothing";
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder())) {
      if (entry.is_regular_file() && entry.path().filename() != "lock") {
        files.push_back(entry.path());
      }
    }
    return files;
  }
  Error refusal() const {
    const auto cache = DiskCache::open({folder(), 1 << 20, {}});
    return cache ? Error(ErrorCode::kInternalError, "none") : cache.error();
  }

  const TemporaryFolder temporary_;
  std::unique_ptr<DiskCache> cache_;
};

TEST_F(DiskCacheTest, WhatWasKept_IsFound) {
  open();
  EXPECT_EQ(found("key"), "nothing");
  keep("key", "content");
  keep("empty", "");
  keep(std::string("\0binary", 7), std::string("\0\n\xff", 3));
  EXPECT_EQ(found("key"), "content");
  EXPECT_EQ(found("empty"), "");
  EXPECT_EQ(found(std::string("\0binary", 7)), std::string("\0\n\xff", 3));
  EXPECT_EQ(found("kez"), "nothing");
  const DiskCache::Usage usage = cache_->usage();
  EXPECT_EQ(usage.entries, 3U);
  EXPECT_EQ(usage.hits, 3U);
  EXPECT_EQ(usage.misses, 2U);
}

TEST_F(DiskCacheTest, AfterReopening_IsFound) {
  open();
  for (int i = 0; i < 100; ++i) keep(std::to_string(i), "content " + std::to_string(i));
  const uint64_t bytes = cache_->usage().bytes;
  open();
  EXPECT_EQ(cache_->usage().entries, 100U);
  EXPECT_EQ(cache_->usage().bytes, bytes);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(found(std::to_string(i)), "content " + std::to_string(i));
}

TEST_F(DiskCacheTest, Room_IsThatOfTheOldest) {
  constexpr uint64_t kRoom = 20 * 4096;
  open(kRoom);
  for (int i = 0; i < 20; ++i) keep(std::to_string(i), std::string(1000, 'x'));
  EXPECT_EQ(cache_->usage().bytes, kRoom);
  EXPECT_NE(found("0"), "nothing");
  keep("more", std::string(9000, 'x'));
  EXPECT_LE(cache_->usage().bytes, kRoom);
  EXPECT_EQ(files().size(), cache_->usage().entries);
  EXPECT_NE(found("0"), "nothing") << "it was read later than the others";
  EXPECT_EQ(found("1"), "nothing");
  EXPECT_EQ(found("3"), "nothing");
  // Kernels record times in steps of some milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(found("4"), "nothing");
  // The order of the entries outlives the process, and the cache obeys a smaller limit.
  open(3 * 4096);
  EXPECT_LE(cache_->usage().bytes, 3U * 4096);
  EXPECT_EQ(files().size(), cache_->usage().entries);
  EXPECT_NE(found("4"), "nothing");
}

TEST_F(DiskCacheTest, LargeContents_AreNotKept) {
  open(uint64_t{1} << 30);
  keep("large", std::string(DiskCache::kContentBytesMax + 1, 'x'));
  EXPECT_EQ(found("large"), "nothing");
  open();
  keep("larger than the room", std::string(2 << 20, 'x'));
  EXPECT_EQ(found("larger than the room"), "nothing");
}

TEST_F(DiskCacheTest, AnyDamage_IsNoContent) {
  std::mt19937_64 random(7);
  open();
  for (int turn = 0; turn < 300; ++turn) {
    keep("key", "some content");
    ASSERT_EQ(found("key"), "some content");
    const fs::path file = files().at(0);
    std::string bytes;
    {
      std::ifstream in(file, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    const size_t at = random() % bytes.size();
    switch (turn % 3) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes += std::string(1 + random() % 10, '\0');
        break;
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(found("key"), "nothing") << turn << " " << at;
    EXPECT_TRUE(files().empty());
  }
}

TEST_F(DiskCacheTest, EntryUnderTheNameOfAnother_IsNoContent) {
  open();
  keep("key", "content");
  const fs::path one = files().at(0);
  keep("other", "other content");
  for (const fs::path& file : files()) {
    if (file != one) fs::copy_file(file, one, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(found("key"), "nothing");
  EXPECT_EQ(found("other"), "other content");
}

TEST_F(DiskCacheTest, FolderThatSomebodyEmpties_IsFilledAgain) {
  open();
  keep("key", "content");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) {
    fs::remove_all(entry.path());
  }
  EXPECT_EQ(found("key"), "nothing");
  keep("key", "content");
  EXPECT_EQ(found("key"), "content");
}

TEST_F(DiskCacheTest, ErrorsOfWriting_AreTold) {
  std::vector<std::string> told;
  cache_ = must(DiskCache::open(
      {folder(), 1 << 20, [&](const Error& error) { told.push_back(error.message()); }}));
  // A folder has the name of the new file.
  fs::create_directory(folder() / "new");
  keep("key", "content");
  keep("key", "content");
  EXPECT_EQ(found("key"), "nothing");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr((folder() / "new").string()));
}

TEST_F(DiskCacheTest, FoldersThatAreNoCache_AreRefused) {
  fs::create_directory(folder());
  ::chmod(folder().c_str(), 0700);
  std::ofstream(folder() / "thesis.tex") << "text";
  EXPECT_EQ(refusal().code(), ErrorCode::kNotAStore);
  EXPECT_THAT(refusal().message(), HasSubstr("empty folder"));
  fs::remove(folder() / "thesis.tex");
  ::chmod(folder().c_str(), 0755);
  EXPECT_EQ(refusal().code(), ErrorCode::kPermissionDenied);
  ::chmod(folder().c_str(), 0700);
  open();
  EXPECT_EQ(refusal().code(), ErrorCode::kStoreLocked);
  cache_.reset();
  fs::remove_all(folder());
  std::ofstream(folder()) << "a file";
  EXPECT_THAT(refusal().message(), HasSubstr(folder().string()));
}

TEST_F(DiskCacheTest, NewFolder_IsOfThisUserAlone) {
  open();
  struct stat status {};
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
  keep("key", "content");
  ASSERT_EQ(::stat(files().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077, 0U);
}

}  // namespace
}  // namespace gridmount
