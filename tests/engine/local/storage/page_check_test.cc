// Goal: reading or writing a damaged page of LMDB's trees is an error, and everything else
// continues to work.
// Method: a store is closed, pages of its data.mdb are changed, and it is opened again.
#include "engine/local/storage/page_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kDocumentsChecked = 100;
constexpr size_t kPageBytes = 4096;
constexpr size_t kFlagsOffset = 10;
constexpr size_t kLowerOffset = 12;
constexpr size_t kUpperOffset = 14;
constexpr size_t kFreeRootOffset = 80;
constexpr size_t kSnapshotOffset = 144;

template <typename T>
T read(const std::string& bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

template <typename T>
void write(std::string& bytes, size_t at, T number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

class PageCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-pages.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_TRUE(open());
    for (int32_t id = 0; id < kDocumentsChecked; ++id) ASSERT_TRUE(insert("many", id));
    ASSERT_TRUE(insert("one", 0));
    store_.reset();
  }
  void TearDown() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  Status open() {
    OpenOptions options;
    options.create = true;
    GM_ASSIGN(store_, local::open(folder_ / "store", options));
    return {};
  }

  static bson::Document id_is(int32_t id) {
    bson::Builder builder;
    builder.append("_id", id);
    return std::move(builder).finish();
  }

  static std::string text_of(int32_t id) {
    return "this is document " + std::to_string(id) + std::string(300, '.');
  }

  Status insert(const char* collection, int32_t id) {
    GM_ASSIGN(const auto transaction, store_->begin());
    bson::Builder builder;
    builder.append("_id", id).append("text", text_of(id));
    GM_TRY(store_->database("test")
               ->collection(collection)
               ->insert(*transaction, std::move(builder).finish()));
    return transaction->commit();
  }

  Status remove(const char* collection, int32_t id) {
    GM_ASSIGN(const auto transaction, store_->begin());
    GM_TRY(
        store_->database("test")->collection(collection)->remove(*transaction, id_is(id), false));
    return transaction->commit();
  }

  Result<bool> has(const char* collection, int32_t id) {
    GM_ASSIGN(const auto snapshot, store_->snapshot());
    GM_ASSIGN(const auto found,
              store_->database("test")->collection(collection)->find_one(*snapshot, id_is(id)));
    return found.has_value();
  }

  std::string data() const {
    std::ifstream file(folder_ / "store" / "data.mdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put_data(const std::string& bytes) const {
    std::ofstream(folder_ / "store" / "data.mdb", std::ios::binary) << bytes;
  }

  // Returns where the leaves with the document's text begin. Older versions of leaves may be among
  // them.
  static std::vector<size_t> leaves_with(const std::string& bytes, int32_t id) {
    std::vector<size_t> leaves;
    for (size_t page = 2 * kPageBytes; page < bytes.size(); page += kPageBytes) {
      const std::string_view content = std::string_view(bytes).substr(page, kPageBytes);
      if (read<uint16_t>(bytes, page + kFlagsOffset) == 2 &&
          content.find(text_of(id)) != std::string_view::npos) {
        leaves.push_back(page);
      }
    }
    return leaves;
  }

  // Every use of the document must fail. The other collection can still be written to.
  void expect_damaged(int32_t id) {
    ASSERT_TRUE(open());
    const Result<bool> found = has("many", id);
    EXPECT_FALSE(found);
    const Status removed = remove("many", id);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code(), ErrorCode::kStoreDamaged) << removed.error().message();
    EXPECT_TRUE(remove("one", 0));
    EXPECT_TRUE(insert("one", 1));
    EXPECT_TRUE(store_->make_durable());
    store_.reset();
  }

  fs::path folder_;
  std::unique_ptr<engine::Store> store_;
};

// If a writer's own snapshot is not there, all writing stops (commit_sequence.h).
TEST_F(PageCheckTest, SnapshotWithAnothersMetaPage_IsRemembered) {
  const std::string bytes = data();
  const auto* const map = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto newest = std::max(read<uint64_t>(bytes, kSnapshotOffset),
                               read<uint64_t>(bytes, kPageBytes + kSnapshotOffset));
  PageCheck check(map, kPageBytes, {});
  EXPECT_TRUE(check.finds(newest));
  EXPECT_FALSE(check.has_missed_snapshot());
  const Status missed = check.finds(newest + 2);
  ASSERT_FALSE(missed);
  EXPECT_THAT(missed.error().message(), HasSubstr("not the snapshot's meta page"));
  EXPECT_TRUE(check.has_missed_snapshot());
}

// LMDB leaves a value the pages of a larger one that it replaced in the same transaction.
TEST_F(PageCheckTest, SmallerValueInALargerOnesPlace_IsSound) {
  ASSERT_TRUE(open());
  const auto sized = [](int32_t id, size_t size) {
    bson::Builder builder;
    builder.append("_id", id).append("text", std::string(size, 'x'));
    return std::move(builder).finish();
  };
  const auto collection = store_->database("test")->collection("one");
  for (const int32_t id : {500, 501}) {
    const auto transaction = store_->begin();
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(collection->insert(**transaction, sized(id, 40'000)));
    ASSERT_TRUE(collection->update(**transaction, id_is(id), sized(id, 10'000), {}));
    ASSERT_TRUE((*transaction)->commit());
  }
  // The first update fits in the same pages, the second needs other pages. A removal follows.
  for (const size_t size : {11'000, 100'000}) {
    const auto transaction = store_->begin();
    ASSERT_TRUE(transaction);
    const auto updated = collection->update(**transaction, id_is(500), sized(500, size), {});
    ASSERT_TRUE(updated) << updated.error().message();
    ASSERT_TRUE((*transaction)->commit());
  }
  const Status removed = remove("one", 501);
  ASSERT_TRUE(removed) << removed.error().message();
  const auto report = check_structure(*store_);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->problems.empty());
}

// LMDB's search would not end on a page with a negative number of entries.
TEST_F(PageCheckTest, LeafWithLessThanNoEntries_IsAnError) {
  std::string bytes = data();
  for (const size_t page : leaves_with(bytes, 50)) write<uint16_t>(bytes, page + kLowerOffset, 2);
  put_data(bytes);
  expect_damaged(50);
}

// LMDB would copy four gigabytes over the memory behind its copy of the page.
TEST_F(PageCheckTest, LeafWithEntriesBehindItsEnd_IsNotWrittenTo) {
  std::string bytes = data();
  for (const size_t page : leaves_with(bytes, 50)) {
    write<uint16_t>(bytes, page + kUpperOffset, kPageBytes + 64);
  }
  put_data(bytes);
  ASSERT_TRUE(open());
  const Status removed = remove("many", 50);
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(removed.error().message(), HasSubstr("data.mdb is damaged at page "));
  EXPECT_TRUE(insert("one", 1));
}

// LMDB merges leaves that removals have left nearly empty. The neighbour must be checked before
// such a merge. Otherwise the call of LMDB would fault, and the store would refuse all writes.
TEST_F(PageCheckTest, RemovalsBesideADamagedLeaf_NeverReachIt) {
  constexpr int32_t kFirst = 1000;
  constexpr int32_t kMany = 300;
  ASSERT_TRUE(open());
  for (int32_t id = kFirst; id < kFirst + kMany; ++id) ASSERT_TRUE(insert("lots", id));
  store_.reset();
  const std::string whole = data();
  fs::copy(folder_ / "store", folder_ / "kept", fs::copy_options::recursive);
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int refused = 0;
  for (int32_t damaged = kFirst; damaged < kFirst + kMany; damaged += 5) {
    std::string bytes = whole;
    for (const size_t page : leaves_with(bytes, damaged)) {
      write<uint16_t>(bytes, page + kUpperOffset, kPageBytes + 64);
    }
    put_data(bytes);
    ASSERT_TRUE(open());
    std::vector<int32_t> ids(kMany);
    std::iota(ids.begin(), ids.end(), kFirst);
    // Removes either all over the tree, or from one end of it.
    if (random() % 2 == 0) std::shuffle(ids.begin(), ids.end(), random);
    ids.resize(kMany * 9 / 10);
    const auto collection = store_->database("test")->collection("lots");
    bool is_refused = false;
    {
      const auto transaction = store_->begin();
      ASSERT_TRUE(transaction);
      for (const int32_t id : ids) {
        const auto removed = collection->remove(**transaction, id_is(id), false);
        if (removed) continue;
        EXPECT_EQ(removed.error().code(), ErrorCode::kStoreDamaged) << removed.error().message();
        is_refused = true;
      }
      if (!is_refused) {
        EXPECT_TRUE((*transaction)->commit());
      }
    }
    if (is_refused) ++refused;
    EXPECT_TRUE(insert("one", 1)) << "with the leaf of " << damaged;
    store_.reset();
    fs::remove_all(folder_ / "store");
    fs::copy(folder_ / "kept", folder_ / "store", fs::copy_options::recursive);
  }
  EXPECT_GT(refused, 0);
}

// LMDB would take these entries for nested trees, for which it has reserved no memory.
TEST_F(PageCheckTest, EntriesThatAreTrees_AreAnError) {
  std::string bytes = data();
  for (const size_t page : leaves_with(bytes, 50)) {
    const size_t count = (read<uint16_t>(bytes, page + kLowerOffset) - 16u) / 2;
    for (size_t i = 0; i < count; ++i) {
      write<uint16_t>(bytes, page + read<uint16_t>(bytes, page + 16 + 2 * i) + 4, 6);
    }
  }
  put_data(bytes);
  expect_damaged(50);
}

TEST_F(PageCheckTest, ListOfFreePages_IsNotBelieved) {
  std::string bytes = data();
  const size_t meta =
      read<uint64_t>(bytes, kSnapshotOffset) > read<uint64_t>(bytes, kPageBytes + kSnapshotOffset)
          ? 0
          : kPageBytes;
  size_t leaf = read<uint64_t>(bytes, meta + kFreeRootOffset) * kPageBytes;
  while (read<uint16_t>(bytes, leaf + kFlagsOffset) == 1) {
    leaf = read<uint32_t>(bytes, leaf + read<uint16_t>(bytes, leaf + 16)) * kPageBytes;
  }
  ASSERT_EQ(read<uint16_t>(bytes, leaf + kFlagsOffset), 2);
  // An entry's header and key are followed by the number of pages and the pages.
  const size_t list = leaf + read<uint16_t>(bytes, leaf + 16) + 8 + 8;
  ASSERT_GT(read<uint64_t>(bytes, list), 1u);
  write<uint64_t>(bytes, list + 16, read<uint64_t>(bytes, list + 8));
  put_data(bytes);
  ASSERT_TRUE(open());
  const Result<bool> found = has("many", 50);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found);
  const Status inserted = insert("one", 1);
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(inserted.error().message(), HasSubstr("a list of free pages"));
}

}  // namespace
}  // namespace gridmount::local
