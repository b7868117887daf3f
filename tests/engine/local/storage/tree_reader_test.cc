// Goal: TreeReader finds exactly the keys that LMDB has, with their values. In damaged pages it
// never reads beyond the file, and finds wrong values only where the damage is.
//
// Method: keys of all lengths and values of all sizes are looked up one by one and together. Then
// every page of the file is damaged in turn, in a copy in memory.
#include "engine/local/storage/tree_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/local/storage/environment.h"
#include "engine/local/storage/lmdb_context.h"
#include "engine/local/storage/trees.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kSeed = 7;

class TreeReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tree_reader_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    OpenOptions options;
    options.create = true;
    options.map_bytes = uint64_t{1} << 30;
    auto opened = Environment::open(folder_ / "store", options);
    ASSERT_TRUE(opened);
    environment_ = *std::move(opened);
    handles_ = {environment_->catalog(), {}};
    for (int i = 0; i < Environment::kTreeCount; ++i) {
      handles_.keyspaces.push_back(environment_->tree(i));
    }
  }
  void TearDown() override {
    environment_.reset();
    fs::remove_all(folder_);
  }

  // Keys with common beginnings of every length. Some are the beginning of others.
  static std::string random_key(std::mt19937& random) {
    constexpr int kLengthMax = 40;
    std::string key(1 + random() % kLengthMax, '\0');
    for (char& byte : key) byte = random() % 4 == 0 ? static_cast<char>(random()) : '\x7F';
    return key;
  }
  void fill(MDB_dbi tree, int count, std::map<std::string, std::string>& entries) {
    std::mt19937 random(kSeed);
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    Trees trees(transaction->lmdb(), handles_, true);
    for (int i = 0; i < count; ++i) {
      const size_t bytes = random() % 50 == 0 ? random() % 20'000 : random() % 300;
      std::string key = random_key(random);
      std::string value(bytes, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(trees.put(tree, key, value));
      entries[key] = std::move(value);
    }
    trees.end();
    ASSERT_TRUE(transaction->commit());
  }

  fs::path folder_;
  std::unique_ptr<Environment> environment_;
  TreeHandles handles_;
};

TEST_F(TreeReaderTest, Find_GivesWhatIsThere_AloneAndTogether) {
  const MDB_dbi tree = environment_->tree(5);
  std::map<std::string, std::string> entries;
  // The tree is empty at first, and has several levels at the end.
  for (const int count : {0, 1, 10, 20'000}) {
    fill(tree, count, entries);
    auto transaction = environment_->begin_read();
    ASSERT_TRUE(transaction);
    MDB_txn* const txn = transaction->lmdb();
    TreeReader reader(txn, context_of(txn).pages);
    std::mt19937 random(kSeed + 1);
    std::vector<std::string> keys;
    for (const auto& [key, value] : entries) {
      EXPECT_EQ(reader.find(tree, key), std::optional<std::string_view>(value));
      keys.push_back(key);
      keys.push_back(key + '\0');
      keys.push_back(random_key(random));
    }
    std::shuffle(keys.begin(), keys.end(), random);
    for (size_t at = 0; at < keys.size();) {
      const size_t size = std::min(1 + random() % TreeReader::kKeysMax, keys.size() - at);
      std::vector<TreeReader::Wanted> wanted;
      for (size_t i = 0; i < size; ++i) wanted.push_back({keys[at + i]});
      reader.find(tree, wanted);
      for (const TreeReader::Wanted& one : wanted) {
        const auto there = entries.find(std::string(one.key));
        const bool is_there = there != entries.end();
        EXPECT_EQ(one.value, is_there ? std::optional<std::string_view>(there->second)
                                      : std::optional<std::string_view>());
      }
      at += size;
    }
    EXPECT_EQ(reader.find(environment_->tree(6), "key"), std::nullopt);
  }
}

TEST_F(TreeReaderTest, FindFrom_GivesTheFirstNotBelow_OrNothingAtTheEndsOfLeaves) {
  const MDB_dbi tree = environment_->tree(5);
  std::map<std::string, std::string> entries;
  fill(tree, 20'000, entries);
  auto transaction = environment_->begin_read();
  ASSERT_TRUE(transaction);
  MDB_txn* const txn = transaction->lmdb();
  TreeReader reader(txn, context_of(txn).pages);
  std::mt19937 random(kSeed + 1);
  size_t tried = 0;
  size_t found = 0;
  const auto find_from = [&](const std::string& key) {
    ++tried;
    const std::optional<TreeReader::Found> place = reader.find_from(tree, key);
    if (!place) return;
    ++found;
    const auto wanted = entries.lower_bound(key);
    ASSERT_NE(wanted, entries.end());
    EXPECT_EQ(place->entry.key, wanted->first);
    EXPECT_EQ(place->entry.value, wanted->second);
  };
  for (const auto& [key, value] : entries) {
    find_from(key);
    find_from(key + '\0');
    find_from(random_key(random));
  }
  EXPECT_GT(found, tried * 8 / 10);
  EXPECT_FALSE(reader.find_from(tree, ""));
  EXPECT_FALSE(reader.find_from(tree, std::string(100, '\xFF')));
  EXPECT_FALSE(reader.find_from(environment_->tree(6), "key"));
}

TEST_F(TreeReaderTest, Find_InASnapshot_GivesWhatItHad) {
  const MDB_dbi tree = environment_->tree(0);
  std::map<std::string, std::string> before;
  fill(tree, 3000, before);
  auto transaction = environment_->begin_read();
  ASSERT_TRUE(transaction);
  MDB_txn* const txn = transaction->lmdb();
  TreeReader reader(txn, context_of(txn).pages);
  for (int i = 0; i < 5; ++i) {
    auto writing = environment_->begin_write();
    ASSERT_TRUE(writing);
    Trees trees(writing->lmdb(), handles_, true);
    for (const auto& [key, value] : before) {
      ASSERT_TRUE(trees.put(tree, key, "another"));
    }
    trees.end();
    ASSERT_TRUE(writing->commit());
  }
  auto later = environment_->begin_read();
  ASSERT_TRUE(later);
  TreeReader later_reader(later->lmdb(), context_of(txn).pages);
  for (const auto& [key, value] : before) {
    EXPECT_EQ(reader.find(tree, key), std::optional<std::string_view>(value));
    EXPECT_EQ(later_reader.find(tree, key), std::optional<std::string_view>("another"));
  }
}

// The pages that the reader sees: all pages of the file, and none behind it.
class Pages {
 public:
  Pages(const std::string& bytes, const PageMap& like) : size_(bytes.size()), pages_(like) {
    void* const at = ::mmap(nullptr, size_ + like.page_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    begin_ = static_cast<uint8_t*>(at);
    std::memcpy(begin_, bytes.data(), size_);
    EXPECT_EQ(::mprotect(begin_ + size_, like.page_bytes, PROT_NONE), 0);
    pages_.begin = begin_;
  }
  ~Pages() { ::munmap(begin_, size_ + pages_.page_bytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  const PageMap& map() const { return pages_; }
  uint8_t& at(size_t offset) { return begin_[offset]; }
  bool contain(std::string_view bytes) const {
    const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
    return first >= begin_ && first + bytes.size() <= begin_ + size_;
  }

 private:
  size_t size_;
  PageMap pages_;
  uint8_t* begin_ = nullptr;
};

TEST_F(TreeReaderTest, Find_InDamagedPages_GivesNothingThatIsNotTheKeys) {
  const MDB_dbi tree = environment_->tree(0);
  std::map<std::string, std::string> entries;
  fill(tree, 600, entries);
  auto transaction = environment_->begin_read();
  ASSERT_TRUE(transaction);
  MDB_txn* const txn = transaction->lmdb();
  const PageMap& real = context_of(txn).pages;
  std::ifstream file(folder_ / "store" / "data.mdb", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  MDB_envinfo info;
  mdb_env_info(mdb_txn_env(txn), &info);
  // LMDB may leave free pages at the end unwritten.
  bytes.resize(std::max(bytes.size(), (info.me_last_pgno + 1) * real.page_bytes));
  Pages pages(bytes, real);
  std::mt19937 random(kSeed);
  int wrong = 0;  // values that find_all() has found instead of others
  const auto find_all = [&] {
    TreeReader reader(txn, pages.map());
    std::vector<TreeReader::Wanted> wanted;
    int found = 0;
    wrong = 0;
    const auto find_together = [&] {
      reader.find(tree, wanted);
      for (const TreeReader::Wanted& one : wanted) {
        EXPECT_EQ(one.value, reader.find(tree, one.key));
      }
      wanted.clear();
    };
    for (const auto& [key, value] : entries) {
      const std::optional<std::string_view> alone = reader.find(tree, key);
      found += alone ? 1 : 0;
      wrong += alone && *alone != value ? 1 : 0;
      EXPECT_TRUE(!alone || pages.contain(*alone));
      const std::optional<TreeReader::Found> place = reader.find_from(tree, key);
      EXPECT_TRUE(!place || (place->entry.key >= key && pages.contain(place->entry.value)));
      wanted.push_back({key});
      if (wanted.size() == TreeReader::kKeysMax) find_together();
    }
    find_together();
    return found;
  };
  ASSERT_EQ(find_all(), static_cast<int>(entries.size()));
  ASSERT_EQ(wrong, 0);
  int kept = 0;
  int changed = 0;
  int damages = 0;
  const size_t page_count = bytes.size() / real.page_bytes;
  for (size_t page = 2; page < page_count; ++page) {
    // Damages the bytes of the header and the first offsets, and random bytes.
    for (size_t attempt = 0; attempt < 40; ++attempt) {
      if (kSanitized && (attempt + page) % 2 != 0) continue;  // it would take long
      ++damages;
      const size_t within = attempt < 24 ? attempt : random() % real.page_bytes;
      uint8_t& byte = pages.at(page * real.page_bytes + within);
      const uint8_t before = byte;
      byte = static_cast<uint8_t>(before ^ (1U << random() % 8));
      kept += find_all() == static_cast<int>(entries.size()) ? 1 : 0;
      // A bit belongs to one entry.
      EXPECT_LE(wrong, 1) << "page " << page << ", byte " << within;
      changed += wrong;
      byte = before;
    }
  }
  // Some of the damages hide no key, and some hide keys.
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, damages);
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace gridmount::local
