// Goal: the check reports a damaged list of free pages, and compaction makes a new list.
//
// Method: a store is closed, its list of free pages is changed in data.mdb, and it is opened again.
#include "engine/local/storage/page_accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kDocumentsAccounted = 200;
constexpr size_t kAccountedPageBytes = 4096;
constexpr size_t kPageFlagsOffset = 10;
constexpr size_t kMetaFreeRootOffset = 80;
constexpr size_t kMainRootOffset = 128;
constexpr size_t kLastPageOffset = 136;
constexpr size_t kMetaSnapshotOffset = 144;

class PageAccountingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-survey.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_TRUE(open());
    // Some documents have pages of their own.
    for (int32_t id = 0; id < kDocumentsAccounted; ++id) ASSERT_TRUE(insert(id));
    for (int32_t id = 0; id < kDocumentsAccounted; id += 2) ASSERT_TRUE(remove(id));
    store_.reset();
    data_ = read_data();
    find_list();
  }
  void TearDown() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  Status open(bool read_only = false) {
    OpenOptions options;
    options.create = !read_only;
    options.read_only = read_only;
    GM_ASSIGN(store_, local::open(folder_ / "store", options));
    return {};
  }
  Status insert(int32_t id) {
    GM_ASSIGN(const auto transaction, store_->begin());
    bson::Builder builder;
    builder.append("_id", id).append("text", std::string(id % 5 == 0 ? 9000 : 300, 'x'));
    GM_TRY(collection()->insert(*transaction, std::move(builder).finish()));
    return transaction->commit();
  }
  Status remove(int32_t id) {
    GM_ASSIGN(const auto transaction, store_->begin());
    bson::Builder builder;
    builder.append("_id", id);
    GM_TRY(collection()->remove(*transaction, std::move(builder).finish(), false));
    return transaction->commit();
  }
  std::unique_ptr<engine::Collection> collection() {
    return store_->database("test")->collection("c");
  }
  int64_t count() {
    const auto snapshot = store_->snapshot();
    return collection()->count(**snapshot, bson::View()).value();
  }
  // Returns the problems that the check finds, on a store opened for reading.
  std::vector<std::string> problems() {
    EXPECT_TRUE(open(true));
    std::vector<std::string> found = check_structure(*store_).value().problems;
    store_.reset();
    return found;
  }
  std::vector<std::string> list_problems() {
    EXPECT_TRUE(open(true));
    std::vector<std::string> found = free_list_problems(*store_).value();
    store_.reset();
    return found;
  }

  std::string read_data() const {
    std::ifstream file(folder_ / "store" / "data.mdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put_data() const {
    std::ofstream(folder_ / "store" / "data.mdb", std::ios::binary) << data_;
  }
  template <typename T>
  T number_at(size_t at) const {
    T number;
    std::memcpy(&number, data_.data() + at, sizeof(number));
    return number;
  }
  uint64_t page_in_list(size_t i) const { return number_at<uint64_t>(list_ + 8 * (1 + i)); }
  void set_page_in_list(size_t i, uint64_t page) {
    std::memcpy(data_.data() + list_ + 8 * (1 + i), &page, sizeof(page));
  }

  // Finds a list of several pages that is in a leaf.
  void find_list() {
    meta_ = number_at<uint64_t>(kMetaSnapshotOffset) >
                    number_at<uint64_t>(kAccountedPageBytes + kMetaSnapshotOffset)
                ? 0
                : kAccountedPageBytes;
    size_t leaf = number_at<uint64_t>(meta_ + kMetaFreeRootOffset) * kAccountedPageBytes;
    while (number_at<uint16_t>(leaf + kPageFlagsOffset) == 1) {
      leaf = number_at<uint32_t>(leaf + number_at<uint16_t>(leaf + 16)) * kAccountedPageBytes;
    }
    ASSERT_EQ(number_at<uint16_t>(leaf + kPageFlagsOffset), 2);
    const size_t nodes = (number_at<uint16_t>(leaf + 12) - 16) / 2;
    for (size_t i = 0; i < nodes; ++i) {
      const size_t node = leaf + number_at<uint16_t>(leaf + 16 + 2 * i);
      if ((number_at<uint16_t>(node + 4) & 1) != 0) continue;  // it has pages of its own
      if (number_at<uint64_t>(node + 16) >= 3) list_ = node + 16;
    }
    ASSERT_NE(list_, 0U);
    pages_ = number_at<uint64_t>(list_);
  }

  // Verifies that the store has all documents and can be written to.
  void expect_sound() {
    EXPECT_THAT(problems(), IsEmpty());
    ASSERT_TRUE(open());
    EXPECT_EQ(count(), kDocumentsAccounted / 2);
    ASSERT_TRUE(insert(1000));
    store_.reset();
    EXPECT_THAT(problems(), IsEmpty());
  }
  void expect_compaction_helps() {
    const Result<Compaction> compacted = compact_store(folder_ / "store");
    ASSERT_TRUE(compacted) << compacted.error().message();
    expect_sound();
  }

  fs::path folder_;
  std::unique_ptr<engine::Store> store_;
  std::string data_;
  size_t meta_ = 0;
  size_t list_ = 0;
  uint64_t pages_ = 0;  // in the list, in descending order
};

TEST_F(PageAccountingTest, ListAsItIs_IsRight) {
  expect_sound();
}

TEST_F(PageAccountingTest, PageInUse_IsFound) {
  // If the list stays in order, opening for writing finds no error.
  uint64_t used = 0;
  uint64_t replaced = 0;
  for (const size_t at : {meta_ + kMainRootOffset, meta_ + kMetaFreeRootOffset}) {
    const auto root = number_at<uint64_t>(at);
    for (size_t i = 0; i < pages_ && used == 0; ++i) {
      const bool is_below = i == 0 || root < page_in_list(i - 1);
      if (!is_below || (i + 1 < pages_ && root <= page_in_list(i + 1))) continue;
      used = root;
      replaced = page_in_list(i);
      set_page_in_list(i, root);
    }
  }
  ASSERT_NE(used, 0U);
  put_data();
  const std::vector<std::string> found = problems();
  ASSERT_EQ(found.size(), 2U) << testing::PrintToString(found);
  EXPECT_THAT(found[0], HasSubstr("page " + std::to_string(used) + " of the "));
  EXPECT_THAT(found[0], HasSubstr("list of free pages"));
  EXPECT_THAT(found[1],
              HasSubstr("page " + std::to_string(replaced) + " is neither in use nor free"));
  EXPECT_EQ(list_problems().size(), 1U);
  // A page that wrongly looks free is not taken from the tree.
  ASSERT_TRUE(open());
  const Result<int64_t> given = store_->compact({"test", "c"});
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code(), ErrorCode::kStoreDamaged);
  store_.reset();
  expect_compaction_helps();
}

TEST_F(PageAccountingTest, LeakedPages_AreCounted) {
  std::memcpy(data_.data() + list_, std::vector<uint64_t>{pages_ - 2}.data(), 8);
  put_data();
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("2 pages are neither in use nor free, the first of them page " +
                                    std::to_string(page_in_list(pages_ - 1)))));
  EXPECT_THAT(list_problems(), IsEmpty());
  expect_compaction_helps();
}

TEST_F(PageAccountingTest, PageListedTwice_IsFound) {
  set_page_in_list(1, page_in_list(0));
  put_data();
  EXPECT_THAT(list_problems(), ElementsAre(HasSubstr("page " + std::to_string(page_in_list(0)) +
                                                     " is in the list of free pages twice")));
  expect_compaction_helps();
}

TEST_F(PageAccountingTest, PageBehindTheLast_IsFound) {
  const uint64_t behind = number_at<uint64_t>(meta_ + kLastPageOffset) + 7;
  set_page_in_list(0, behind);
  put_data();
  EXPECT_THAT(list_problems(), ElementsAre(HasSubstr("page " + std::to_string(behind) +
                                                     ", which the file does not have")));
  expect_compaction_helps();
}

TEST_F(PageAccountingTest, LengthThatCannotBe_IsFound) {
  std::memcpy(data_.data() + list_, std::vector<uint64_t>{pages_ + 100'000}.data(), 8);
  put_data();
  EXPECT_THAT(list_problems(), ElementsAre(HasSubstr("does not have the length")));
  expect_compaction_helps();
}

}  // namespace
}  // namespace gridmount::local
