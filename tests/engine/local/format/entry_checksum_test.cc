// Goal: checksums of entries detect damage, and exactly the stores of newer formats have them.

#include "engine/local/format/entry_checksum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/local/catalog/records.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/damaged_store.h"

namespace gridmount::local {
namespace {

using testing::IsEmpty;

TEST(KeyChecksum, IsAnotherForEachFlippedBit) {
  const RecordKey record({5, 77}, 123456);
  std::string key(record.view());
  const uint32_t whole = key_checksum(5, key);
  EXPECT_EQ(record.checksum(), whole);
  for (size_t bit = 0; bit < 8 * key.size(); ++bit) {
    key[bit / 8] = static_cast<char>(key[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(key_checksum(5, key), whole) << bit;
    key[bit / 8] = static_cast<char>(key[bit / 8] ^ 1 << bit % 8);
  }
  for (uint32_t tree = 0; tree < 128; ++tree) {
    EXPECT_EQ(key_checksum(tree, key) == whole, tree == 5) << tree;
  }
}

TEST(EntryChecksum, CoversTreeKeyAndValue) {
  const std::string key = "key";
  std::string value = "value";
  append_entry_checksum(value, 5, key);
  EXPECT_TRUE(has_entry_checksum(5, key, value));
  // In a page, the value directly follows the key.
  const std::string entry = key + value;
  const std::string_view view = entry;
  EXPECT_TRUE(has_entry_checksum(5, view.substr(0, key.size()), view.substr(key.size())));
  EXPECT_FALSE(has_entry_checksum(6, key, value));
  EXPECT_FALSE(has_entry_checksum(5, "kez", value));
  value[1] = 'A';
  EXPECT_FALSE(has_entry_checksum(5, key, value));
  EXPECT_FALSE(has_entry_checksum(5, key, "abc"));
}

class StoreOfVersion2 : public DamagedStore {
 protected:
  void SetUp() override {
    DamagedStore::SetUp();
    store_.reset();
    std::filesystem::remove_all(folder_ / "store");
    open();
    store_.reset();
    std::filesystem::remove(folder_ / "store" / "pending");
    std::ofstream(folder_ / "store" / "format", std::ios::trunc) << "gridmount store\nformat 2\n";
    open();
    for (int id = 1; id <= kDocuments; ++id) {
      insert(R"({"_id": )" + std::to_string(id) + R"(, "a": "value"})");
    }
    make_index("old");
  }

  void make_index(const std::string& name) {
    const auto transaction = store_->begin();
    const bson::Document keys = doc(R"({")" + name + R"(": 1, "a": 1})");
    ASSERT_TRUE(collection()->create_index(**transaction, {name, keys, false}));
    ASSERT_TRUE((*transaction)->commit());
  }

  void upgrade() {
    store_.reset();
    OpenOptions options;
    options.upgrade = true;
    ASSERT_TRUE(local::open(folder_ / "store", options));
    open();
  }

  // Verifies for each index whether its entries have checksums, and for each record its kind.
  void expect_checksums(const std::vector<bool>& indexes, const std::vector<int>& kinds) {
    std::vector<bool> found;
    std::vector<int> found_kinds;
    change([&](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
      for (const IndexMetadata& index : metadata.indexes) {
        GM_ASSIGN(const std::optional<TreeEntry> first,
                  trees.at_or_after(trees.tree(index.keyspace), keyspace_prefix(index.keyspace)));
        const bool has = has_entry_checksum(index.keyspace.tree, first->key, first->value);
        EXPECT_EQ(has, index.checksums) << index.definition.name;
        found.push_back(has);
      }
      for (RecordId id = 1;; ++id) {
        GM_ASSIGN(const std::optional<std::string_view> record,
                  get_record(trees, metadata.records, id));
        if (!record) return {};
        found_kinds.push_back((*record)[4]);
      }
    });
    EXPECT_EQ(found, indexes);
    EXPECT_EQ(found_kinds, kinds);
  }

  void expect_all_found(int documents) {
    EXPECT_THAT(problems(), IsEmpty());
    const auto snapshot = store_->snapshot();
    for (int id = 1; id <= documents; ++id) {
      const auto found = find_one(**snapshot, R"({"_id": )" + std::to_string(id) + "}");
      ASSERT_TRUE(found.has_value()) << found.error().message();
      EXPECT_TRUE(found->has_value());
    }
    const auto none = find_one(**snapshot, R"({"_id": 100})");
    ASSERT_TRUE(none.has_value()) << none.error().message();
    EXPECT_FALSE(none->has_value());
    for (const char* const filter : {"{}", R"({"_id": {"$gt": 0}})"}) {
      const auto count = collection()->count(**snapshot, doc(filter));
      ASSERT_TRUE(count.has_value()) << count.error().message();
      EXPECT_EQ(*count, documents);
    }
  }
};

TEST_F(StoreOfVersion2, HasNone_UntilItIsUpgraded) {
  expect_checksums({false, false}, {0, 0, 0, 0, 0});
  EXPECT_EQ(format_version_of(*store_), 2);
  expect_all_found(kDocuments);

  upgrade();
  make_index("new");
  insert(R"({"_id": 6, "a": "value"})");
  expect_checksums({false, false, true}, {0, 0, 0, 0, 0, 1});
  expect_all_found(kDocuments + 1);
}

// There are so many collections that their keyspaces share trees. Keyspaces with checksums then
// have neighbours without checksums.
TEST_F(StoreOfVersion2, Upgraded_ReadsOldAndNewRangesInOneTree) {
  constexpr int kCollections = 150;
  const auto fill = [&](const std::string& name) {
    const auto transaction = store_->begin();
    for (int i = 0; i < kCollections; ++i) {
      const auto made = store_->database("test")->collection(name + std::to_string(i));
      ASSERT_TRUE(made->insert(**transaction, doc(R"({"_id": 1})")));
    }
    ASSERT_TRUE((*transaction)->commit());
  };
  fill("old");
  upgrade();
  fill("new");
  const auto snapshot = store_->snapshot();
  for (const char* const name : {"old", "new"}) {
    for (int i = 0; i < kCollections; ++i) {
      const auto made = store_->database("test")->collection(name + std::to_string(i));
      for (const char* const filter : {R"({"_id": {"$gt": 0}})", R"({"x": null})"}) {
        const auto count = made->count(**snapshot, doc(filter));
        ASSERT_TRUE(count.has_value()) << count.error().message();
        EXPECT_EQ(*count, 1);
      }
      const auto none = made->find_one(**snapshot, doc(R"({"_id": 2})"));
      ASSERT_TRUE(none.has_value()) << none.error().message();
      EXPECT_FALSE(none->has_value());
    }
  }
}

// LMDB has no such key, but a damaged page can.
TEST(CatalogEntry, WithoutAKey_IsNotSound) {
  EXPECT_FALSE(is_sound_catalog_entry(8, TreeEntry{.key = {}, .value = "value"}));
  EXPECT_FALSE(is_sound_catalog_entry(8, TreeEntry{.key = {}, .value = {}}));
}

}  // namespace
}  // namespace gridmount::local
