// Goal: reads report damage below the documents, and check_structure() finds it.
// Method: a store is closed, its trees are changed through the environment, and it is opened again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "engine/bson/json.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/damaged_store.h"

namespace gridmount::local {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Damage : public DamagedStore {};

TEST_F(Damage, None_ReportsTheCounts) {
  const auto report = check_structure(*store_);
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->collections, 1u);
  EXPECT_EQ(report->records, 5u);
  EXPECT_EQ(report->index_entries, 10u);
}

TEST_F(Damage, FlippedByte_IsNamedAndPassedOver) {
  edit_record(3, [](std::string& value) { value.back() = 1; });              // the document's end
  edit_record(2, [](std::string& value) { value[value.size() - 3] ^= 4; });  // within "value"
  const auto snapshot = store_->snapshot();
  const auto damaged = find_one(**snapshot, R"({"_id": 2})");
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code(), ErrorCode::kDataCorruptionDetected);
  EXPECT_THAT(damaged.error().message(),
              AllOf(HasSubstr("test.c"), HasSubstr("_id 2"), HasSubstr("checksum")));
  // The bytes are not valid BSON any more, so the error names the record.
  EXPECT_THAT(find_one(**snapshot, R"({"_id": 3})").error().message(), HasSubstr("record 3"));
  // A reader of a part does not verify the whole document.
  EXPECT_TRUE(find_one(**snapshot, R"({"_id": 2})", true).has_value());

  const auto cursor = collection()->find(**snapshot, bson::View());
  int errors = 0;
  std::vector<int64_t> found;
  while (true) {
    const auto next = (*cursor)->next();
    if (!next) {
      ++errors;
      ASSERT_LT(errors, 10);
    } else if (!*next) {
      break;
    } else {
      found.push_back(*(**next)["_id"].integral());
    }
  }
  EXPECT_EQ(errors, 2);
  EXPECT_THAT(found, testing::ElementsAre(1, 4, 5));
  EXPECT_THAT(problems(), AllOf(Contains(HasSubstr("_id 2")), Contains(HasSubstr("record 3"))));

  const auto transaction = store_->begin();
  EXPECT_EQ(collection()
                ->update(**transaction, doc(R"({"_id": 2})"), doc(R"({"$set": {"b": 1}})"))
                .error()
                .code(),
            ErrorCode::kDataCorruptionDetected);
}

// The insert cannot remove the oldest document, and must not leave its own document behind.
TEST_F(Damage, OldestOfACappedCollection_RefusesTheInsertWhole) {
  {
    const auto transaction = store_->begin();
    ASSERT_TRUE(store_->database("test")->convert_to_capped(**transaction, "c", 4096));
    ASSERT_TRUE((*transaction)->commit());
  }
  edit_record(1, [](std::string& value) { value[value.size() - 3] ^= 4; });
  {
    const auto transaction = store_->begin();
    const auto inserted = collection()->insert(
        **transaction, doc(R"({"_id": 6, "text": ")" + std::string(5'000, 'x') + R"("})"));
    ASSERT_FALSE(inserted.has_value());
    EXPECT_EQ(inserted.error().code(), ErrorCode::kDataCorruptionDetected);
    EXPECT_FALSE((*transaction)->commit().has_value());
  }
  const auto snapshot = store_->snapshot();
  const auto found = find_one(**snapshot, R"({"_id": 6})");
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->has_value());
}

// The command `validate` lists the damage.
TEST_F(Damage, Validation_ListsRecordsAndEntries) {
  edit_record(2, [](std::string& value) { value[value.size() - 3] ^= 4; });
  const auto snapshot = store_->snapshot();
  const auto report = store_->database("test")->validate(**snapshot, "c");
  ASSERT_TRUE(report.has_value());
  const bson::View told = report->view();
  EXPECT_FALSE(told["valid"].as_bool());
  EXPECT_EQ(bson::to_json(told["corruptRecords"].as_document(), bson::JsonForm::kRelaxed),
            R"({ "0" : 2 })");
  EXPECT_FALSE(told["indexDetails"].as_document()["_id_"].as_document()["valid"].as_bool());
}

// A reader of a part does not verify all bytes, but verifies that the fields can be walked over.
TEST_F(Damage, ReaderOfAPart_VerifiesTheStructure) {
  insert(R"({"_id": 6, "text": ")" + std::string(10'000, 'x') + R"("})");
  edit_record(6, [](std::string& value) { value[5000] ^= 4; });
  {
    const auto snapshot = store_->snapshot();
    EXPECT_FALSE(find_one(**snapshot, R"({"_id": 6})").has_value());
    EXPECT_TRUE(find_one(**snapshot, R"({"_id": 6})", true).has_value());
  }
  const auto expect_damaged = [this](const std::string& filter, const std::string& what) {
    const auto snapshot = store_->snapshot();
    const auto damaged = find_one(**snapshot, filter, true);
    ASSERT_FALSE(damaged.has_value());
    EXPECT_EQ(damaged.error().code(), ErrorCode::kDataCorruptionDetected);
    EXPECT_THAT(damaged.error().message(), HasSubstr(what));
  };
  edit_record(6, [](std::string& value) { value[value.find("_id")] ^= 1; });
  expect_damaged(R"({"text": {"$exists": true}})", "its first field is not _id");
  edit_record(6, [](std::string& value) { value[value.find("id") - 1] ^= 1; });
  // This edit changes the length of the text.
  edit_record(6, [](std::string& value) { value[value.find("text") + 7] ^= 1; });
  expect_damaged(R"({"_id": 6})", "a string's length");
}

// LMDB leaves a value the pages of a larger one that it replaced in the same transaction.
TEST_F(Damage, PagesOfAReplacedDocument_AreNone_UnlessTheTreeDoesNotCountThem) {
  const auto document = [](size_t bytes) {
    return doc(R"({"_id": 3, "text": ")" + std::string(bytes, 'x') + R"("})");
  };
  {
    const auto transaction = store_->begin();
    for (const size_t bytes : {40'000, 9000}) {
      ASSERT_TRUE(collection()->update(**transaction, doc(R"({"_id": 3})"), document(bytes)));
    }
    ASSERT_TRUE((*transaction)->commit());
  }
  EXPECT_THAT(problems(), IsEmpty());
  store_.reset();

  // Adds one page to the count in the header of the value's first page. Only the content of the
  // first page does not begin with `x`.
  std::fstream data(folder_ / "store" / "data.mdb",
                    std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes{std::istreambuf_iterator<char>(data), std::istreambuf_iterator<char>()};
  constexpr size_t kPageBytes = 4096;
  constexpr size_t kPagesOffset = 12;
  size_t page = 0;
  while (bytes.compare(page + kPageBytes - 8, 8, "xxxxxxxx") != 0 ||
         bytes.compare(page + 2 * kPageBytes, 8, "xxxxxxxx") != 0 || bytes[page + 16] == 'x') {
    page += kPageBytes;
  }
  data.seekp(static_cast<std::streamoff>(page + kPagesOffset));
  data.put(static_cast<char>(bytes[page + kPagesOffset] + 1));
  data.close();
  open();
  EXPECT_THAT(problems(), Contains(HasSubstr("header of its pages")));
}

TEST_F(Damage, SortedCursor_GoesOnBehindDamage) {
  edit_record(2, [](std::string& value) { value[value.size() - 3] ^= 4; });
  const auto snapshot = store_->snapshot();
  const bson::Document sort = doc(R"({"x": 1, "_id": -1})");
  engine::FindOptions options;
  options.sort = sort;
  const auto cursor = collection()->find(**snapshot, bson::View(), options);
  EXPECT_EQ((*cursor)->next().error().code(), ErrorCode::kDataCorruptionDetected);
  const auto next = (*cursor)->next();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ((**next)["_id"].integral(), 5);
}

TEST_F(Damage, WrongLengths_AreSeenByPartialReadsToo) {
  edit_record(1, [](std::string& value) { value.resize(value.size() - 4); });
  edit_record(2, [](std::string& value) { value.resize(6); });
  edit_record(3, [](std::string& value) { value[8] = '\x7F'; });
  edit_record(4, [](std::string& value) { value[4] = 9; });
  const auto snapshot = store_->snapshot();
  for (const char* filter : {R"({"_id": 1})", R"({"_id": 2})", R"({"_id": 3})", R"({"_id": 4})"}) {
    for (const bool partial : {false, true}) {
      const auto found = find_one(**snapshot, filter, partial);
      ASSERT_FALSE(found.has_value()) << filter;
      EXPECT_EQ(found.error().code(), ErrorCode::kDataCorruptionDetected);
    }
  }
  EXPECT_TRUE(find_one(**snapshot, R"({"_id": 5})", true).has_value());
}

TEST_F(Damage, MissingRecord_IsReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) {
    return trees.remove(trees.tree(metadata.records), RecordKey(metadata.records, 4).view());
  });
  const auto snapshot = store_->snapshot();
  const auto found = find_one(**snapshot, R"({"_id": 4})");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), ErrorCode::kDataCorruptionDetected);
  EXPECT_THAT(found.error().message(), HasSubstr("record 4"));
  EXPECT_THAT(problems(), AllOf(Contains(HasSubstr("index '_id_' names record 4")),
                                Contains(HasSubstr("index 'by_a' names record 4")),
                                Contains(HasSubstr("counts 5 documents"))));
}

TEST_F(Damage, RecordOfAnotherKey_IsReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    GM_ASSIGN(const std::optional<std::string_view> other, get_record(trees, metadata.records, 2));
    const std::string value(other.value());
    return trees.put(trees.tree(metadata.records), RecordKey(metadata.records, 3).view(), value);
  });
  const auto snapshot = store_->snapshot();
  for (const bool partial : {false, true}) {
    const auto found = find_one(**snapshot, R"({"_id": 3})", partial);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code(), ErrorCode::kDataCorruptionDetected);
    EXPECT_THAT(found.error().message(), HasSubstr("does not belong to its key"));
  }
  EXPECT_THAT(problems(), Contains(HasSubstr("does not belong to its key")));
}

TEST_F(Damage, ChangedIndexEntry_IsReportedByWhatReadsIt) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& index = metadata.indexes[1];
    GM_ASSIGN(const std::optional<TreeEntry> first,
              trees.at_or_after(trees.tree(index.keyspace), keyspace_prefix(index.keyspace)));
    const std::string key(first->key);
    std::string value(first->value);
    value[0] ^= 2;  // the kind of the key's value
    return trees.put(trees.tree(index.keyspace), key, value);
  });
  const auto snapshot = store_->snapshot();
  const auto named =
      AllOf(HasSubstr("test.c: the index 'by_a'"), HasSubstr("checksum"), HasSubstr("check"));
  const auto found = find_one(**snapshot, R"({"a": "value"})");
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message(), named);
  const auto count = collection()->count(**snapshot, doc(R"({"a": "value"})"));
  ASSERT_FALSE(count.has_value());
  EXPECT_THAT(count.error().message(), named);
  EXPECT_THAT(problems(), testing::ElementsAre(AllOf(HasSubstr("'by_a' has an entry for record 1"),
                                                     HasSubstr("checksum"))));
}

// A flipped bit in the key's prefix has moved the entry to the end of its tree.
TEST_F(Damage, EntryThatHasLeftItsRange_IsMissedByWhatLooksForIt) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& index = metadata.indexes[1];
    const MDB_dbi tree = trees.tree(index.keyspace);
    std::string key;
    set_index_key(key, index, std::string_view("\x18value\0", 7), kDocuments);
    GM_ASSIGN(const std::optional<std::string_view> found, trees.get(tree, key));
    const std::string value(found.value());
    GM_TRY(trees.remove(tree, key));
    key[0] ^= 4;
    return trees.put(tree, key, value);
  });
  const auto snapshot = store_->snapshot();
  const auto count = collection()->count(**snapshot, doc(R"({"a": "value"})"));
  ASSERT_FALSE(count.has_value());
  EXPECT_EQ(count.error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(count.error().message(),
              AllOf(HasSubstr("test.c: the index 'by_a'"), HasSubstr("gridstore check")));
}

TEST_F(Damage, CountsOfTheCatalog_AreReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const std::string key = prefix_key(kCountsKey, metadata.records.prefix);
    GM_ASSIGN(const std::optional<std::string_view> found, trees.get(trees.catalog(), key));
    std::string value(found.value());
    value[7] ^= 1;
    return trees.put(trees.catalog(), key, value);
  });
  const auto snapshot = store_->snapshot();
  const auto count = collection()->count(**snapshot, bson::View());
  ASSERT_FALSE(count.has_value());
  EXPECT_EQ(count.error().code(), ErrorCode::kStoreDamaged);
}

TEST_F(Damage, MissingIndexEntry_IsReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    GM_ASSIGN(const std::optional<TreeEntry> first,
              trees.at_or_after(trees.tree(metadata.indexes[1].keyspace),
                                keyspace_prefix(metadata.indexes[1].keyspace)));
    return trees.remove(trees.tree(metadata.indexes[1].keyspace), std::string(first->key));
  });
  EXPECT_THAT(problems(), testing::ElementsAre(AllOf(HasSubstr("'by_a'"),
                                                     HasSubstr("lacks an entry for record 1"))));
}

TEST_F(Damage, SuperfluousIndexEntries_AreReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& index = metadata.indexes[1];
    std::string key;
    set_index_key(key, index, "\x18zzz", 2);
    GM_TRY(trees.put(trees.tree(index.keyspace), key, ""));
    set_index_key(key, index, "\x18zzz", 77);
    return trees.put(trees.tree(index.keyspace), key, "");
  });
  EXPECT_THAT(problems(),
              AllOf(Contains(HasSubstr("entry for record 2 that its document does not give")),
                    Contains(HasSubstr("names record 77, which does not exist"))));
}

TEST_F(Damage, WrongCounts_AreReported) {
  change([](Trees&, Catalog& catalog, const CollectionMetadata& metadata) -> Status {
    GM_ASSIGN(Counts* const counts, catalog.counts_for_change(metadata));
    ++counts->documents;
    counts->next_record = 2;
    return {};
  });
  EXPECT_THAT(problems(), AllOf(Contains(HasSubstr("counts 6 documents")),
                                Contains(HasSubstr("next record id is 2"))));
}

TEST_F(Damage, UnmarkedMultikeyIndex_IsReported) {
  {
    const auto transaction = store_->begin();
    ASSERT_TRUE(collection()->insert(**transaction, doc(R"({"_id": 9, "a": [1, 2]})")));
    ASSERT_TRUE((*transaction)->commit());
  }
  EXPECT_THAT(problems(), IsEmpty());
  change([](Trees&, Catalog& catalog, const CollectionMetadata& metadata) -> Status {
    CollectionMetadata changed = metadata;
    changed.indexes[1].multikey = false;
    GM_TRY(catalog.put(std::move(changed)));
    return {};
  });
  EXPECT_THAT(problems(), Contains(HasSubstr("not marked as multikey")));
}

TEST_F(Damage, KeyspaceWithoutOwner_IsReported) {
  change([](Trees& trees, Catalog&, const CollectionMetadata&) {
    const Keyspace nobody{7, 4711};
    return trees.put(trees.tree(nobody), RecordKey(nobody, 1).view(), "x");
  });
  EXPECT_THAT(problems(), Contains(HasSubstr("keyspace 4711, which belongs to no collection")));
}

TEST_F(Damage, CatalogEntry_IsRefused) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) {
    std::string bytes = metadata.encode().value();
    bytes[10] ^= 1;
    return trees.put(trees.catalog(), std::string("ctest\0c", 7), bytes);
  });
  const auto snapshot = store_->snapshot();
  EXPECT_EQ(find_one(**snapshot, "{}").error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(problems(), Contains(HasSubstr("catalog's entry of test.c is damaged")));
}

TEST_F(Damage, ManyProblems_AreCutWithTheirNumber) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& index = metadata.indexes[1];
    for (RecordId id = 1000; id < 1000 + kMaxProblems + 50; ++id) {
      std::string key;
      set_index_key(key, index, "\x18z", id);
      GM_TRY(trees.put(trees.tree(index.keyspace), key, ""));
    }
    return {};
  });
  const std::vector<std::string> found = problems();
  EXPECT_EQ(found.size(), kMaxProblems + 1);
  EXPECT_THAT(found.back(), HasSubstr("and 51 further problems"));
}

}  // namespace
}  // namespace gridmount::local
