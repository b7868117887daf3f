// Goal: after repair_structure() on each kind of damage below the documents, the check is clean,
// undamaged data is still there, and everything that was removed was kept.
// Method: as in damage_test.cc; and random damage from a seed that a failing run prints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "engine/bson/builder.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/damaged_store.h"

namespace gridmount::local {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordedRemovals : public RemovedData {
 public:
  Status keep_document(const engine::Namespace& ns, bson::View document) override {
    documents.emplace_back(ns.full(), bson::Document(document));
    return {};
  }
  Status keep_bytes(const engine::Namespace& ns, const std::string& what, const std::string& why,
                    std::string_view) override {
    bytes.push_back(ns.full() + ": " + what + ": " + why);
    return {};
  }
  Status sync() override {
    ++syncs;
    if (syncs == syncs_until_end) ::_exit(7);
    return {};
  }

  std::vector<std::pair<std::string, bson::Document>> documents;
  std::vector<std::string> bytes;
  int syncs = 0;
  int syncs_until_end = -1;
};

class Repair : public DamagedStore {
 protected:
  // Repairs the store and returns one line for each repair. Stores the problems that cannot be
  // repaired in beyond_.
  std::vector<std::string> repair() {
    std::vector<std::string> lines;
    const auto report = repair_structure(
        *store_, {removed_, [&](const std::string& line) { lines.push_back(line); }});
    EXPECT_TRUE(report.has_value()) << report.error().message();
    if (report) {
      beyond_ = report->unrepairable;
      EXPECT_EQ(report->repaired, lines.size());
    }
    return lines;
  }

  // Expects a repair that reports these lines and leaves nothing to repair.
  template <typename Matcher>
  void expect_repaired(const Matcher& lines) {
    EXPECT_THAT(repair(), lines);
    EXPECT_THAT(beyond_, IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_THAT(repair(), IsEmpty());
    store_.reset();
    open();
    EXPECT_THAT(problems(), IsEmpty());
  }

  std::vector<int64_t> ids() {
    std::vector<int64_t> found;
    const auto snapshot = store_->snapshot();
    const auto cursor = collection()->find(**snapshot, bson::View());
    while (true) {
      const auto next = (*cursor)->next();
      EXPECT_TRUE(next.has_value());
      if (!next || !*next) return found;
      found.push_back((**next)["_id"].integral().value_or(-1));
    }
  }

  RecordedRemovals removed_;
  std::vector<std::string> beyond_;
};

TEST_F(Repair, SoundStore_IsLeftAlone) {
  EXPECT_THAT(repair(), IsEmpty());
  EXPECT_THAT(beyond_, IsEmpty());
  EXPECT_THAT(removed_.documents, IsEmpty());
}

TEST_F(Repair, UnreadableRecords_AreTakenOutWithTheirEntries) {
  edit_record(1, [](std::string& value) { value[value.size() - 3] ^= 4; });
  edit_record(2, [](std::string& value) { value.resize(6); });
  edit_record(3, [](std::string& value) { value[4] = 9; });
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    std::string key = keyspace_prefix(metadata.records);
    key += "odd";
    return trees.put(trees.tree(metadata.records), key, "x");
  });
  expect_repaired(AllOf(
      Contains(AllOf(HasSubstr("test.c: removed the document with _id 1 (record 1)"),
                     HasSubstr("checksum"))),
      Contains(HasSubstr("removed record 2: the record has only 6 bytes")),
      Contains(HasSubstr("(record 3)")), Contains(HasSubstr("removed a record: its key has 7")),
      Contains(HasSubstr("the index '_id_' was repaired: 3 entries were removed")),
      Contains(HasSubstr("counts 2 documents"))));
  EXPECT_THAT(ids(), ElementsAre(4, 5));
  EXPECT_EQ(removed_.bytes.size(), 4u);
  EXPECT_GT(removed_.syncs, 0);
}

TEST_F(Repair, RecordThatIsNoBson_IsTakenOut) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    // A sound record whose bytes are not a document: its string is longer than the document.
    std::vector<uint8_t> bytes = {14, 0, 0, 0, 2, 'a', 0, 99, 0, 0, 0, 'x', 0, 0};
    return put_record(trees, metadata.records, 2, bson::View(bytes.data(), 14), false);
  });
  expect_repaired(Contains(HasSubstr("removed record 2: it is not valid BSON")));
  EXPECT_THAT(ids(), ElementsAre(1, 3, 4, 5));
}

TEST_F(Repair, MissingRecord_LeavesNoEntries) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) {
    return trees.remove(trees.tree(metadata.records), RecordKey(metadata.records, 4).view());
  });
  expect_repaired(ElementsAre(HasSubstr("counts 4 documents"),
                              HasSubstr("'_id_' was repaired: 1 entry was removed"),
                              HasSubstr("'by_a' was repaired: 1 entry was removed")));
}

TEST_F(Repair, IndexEntries_FollowTheDocuments) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& by_a = metadata.indexes[1];
    std::string key;
    GM_ASSIGN(const std::optional<TreeEntry> first,
              trees.at_or_after(trees.tree(by_a.keyspace), keyspace_prefix(by_a.keyspace)));
    const std::string removed(first->key);
    GM_TRY(trees.remove(trees.tree(by_a.keyspace), removed));
    GM_ASSIGN(const std::optional<TreeEntry> second,
              trees.at_or_after(trees.tree(by_a.keyspace), keyspace_prefix(by_a.keyspace)));
    GM_TRY(trees.put(trees.tree(by_a.keyspace), std::string(second->key), "\x04"));
    set_index_key(key, by_a, "\x18zzz", 2);
    GM_TRY(trees.put(trees.tree(by_a.keyspace), key, ""));
    set_index_key(key, by_a, "\x18zzz", 77);
    GM_TRY(trees.put(trees.tree(by_a.keyspace), key, ""));
    GM_TRY(trees.put(trees.tree(by_a.keyspace), keyspace_prefix(by_a.keyspace) + "x", ""));
    // In the unique index: an entry of the wrong record, and one without a record.
    const IndexMetadata& by_id = metadata.indexes[0];
    GM_ASSIGN(const std::optional<TreeEntry> id,
              trees.at_or_after(trees.tree(by_id.keyspace), keyspace_prefix(by_id.keyspace)));
    const std::string id_key(id->key);
    GM_TRY(trees.put(trees.tree(by_id.keyspace), id_key, index_value(by_id, id_key, 4, "")));
    return trees.put(trees.tree(by_id.keyspace), keyspace_prefix(by_id.keyspace) + "y", "");
  });
  expect_repaired(
      ElementsAre(HasSubstr("'_id_' was repaired: 1 entry was corrected, 1 entry was removed"),
                  HasSubstr("'by_a' was repaired: 1 entry was added, 1 entry was corrected, 3 "
                            "entries were removed")));
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(Repair, EntryWithAWrongChecksum_IsCorrected) {
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const IndexMetadata& by_a = metadata.indexes[1];
    GM_ASSIGN(const std::optional<TreeEntry> first,
              trees.at_or_after(trees.tree(by_a.keyspace), keyspace_prefix(by_a.keyspace)));
    const std::string key(first->key);
    std::string value(first->value);
    value.back() ^= 1;
    return trees.put(trees.tree(by_a.keyspace), key, value);
  });
  expect_repaired(ElementsAre(HasSubstr("'by_a' was repaired: 1 entry was corrected")));
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(Repair, ConflictInAUniqueIndex_KeepsTheFirst) {
  // Documents 2 and 5 have the same _id. The entry names the later document.
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    GM_TRY(put_record(trees, metadata.records, 5, doc(R"({"_id": 2, "a": "later"})"), false));
    const IndexMetadata& by_id = metadata.indexes[0];
    std::string key;
    KeySet keys;
    GM_TRY(extract_keys(by_id.rules, doc(R"({"_id": 2})"), keys));
    set_index_key(key, by_id, keys[0], 5);
    return trees.put(trees.tree(by_id.keyspace), key, index_value(by_id, key, 5, ""));
  });
  expect_repaired(Contains(HasSubstr(
      "removed the document with _id 2 (record 5): the index '_id_' is unique, and record 2, "
      "which stays, has the same key")));
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(removed_.documents.size(), 1u);
  EXPECT_EQ(removed_.documents[0].first, "test.c");
  EXPECT_EQ(removed_.documents[0].second.find("a")->as_string(), "later");
}

TEST_F(Repair, Counts_AreCorrected) {
  change([](Trees&, Catalog& catalog, const CollectionMetadata& metadata) -> Status {
    GM_ASSIGN(Counts* const counts, catalog.counts_for_change(metadata));
    ++counts->documents;
    counts->next_record = 2;
    return {};
  });
  expect_repaired(ElementsAre(HasSubstr("counts 5 documents")));
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) {
    return trees.put(trees.catalog(), prefix_key(kCountsKey, metadata.records.prefix), "short");
  });
  expect_repaired(ElementsAre(HasSubstr("its counts were damaged")));
  insert(R"({"_id": 6})");
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(Repair, MultikeyIndex_IsMarked) {
  insert(R"({"_id": 9, "a": [1, 2]})");
  change([](Trees&, Catalog& catalog, const CollectionMetadata& metadata) -> Status {
    CollectionMetadata changed = metadata;
    changed.indexes[1].multikey = false;
    GM_TRY(catalog.put(std::move(changed)));
    return {};
  });
  expect_repaired(ElementsAre(HasSubstr("'by_a' is marked as holding arrays")));
}

TEST_F(Repair, KeyspaceOfNobody_IsKeptAndRemoved) {
  change([](Trees& trees, Catalog&, const CollectionMetadata&) -> Status {
    const Keyspace nobodys{7, 4711};
    GM_TRY(put_record(trees, nobodys, 1, doc(R"({"_id": "lost"})"), false));
    GM_TRY(trees.put(trees.tree(nobodys), RecordKey(nobodys, 2).view(), "x"));
    const Keyspace last{8, 0xFFFFFFFF};
    GM_TRY(trees.put(trees.tree(last), RecordKey(last, 2).view(), "x"));
    return trees.put(trees.tree(last), "ab", "short");
  });
  EXPECT_THAT(problems(), Contains(HasSubstr("keyspace 4294967295")));
  expect_repaired(AllOf(Contains(HasSubstr("keyspace 4711 of tree 7")),
                        Contains(HasSubstr("keyspace 4294967295 of tree 8")),
                        Contains(HasSubstr("key 6162 of tree 8"))));
  ASSERT_EQ(removed_.documents.size(), 1u);
  EXPECT_EQ(removed_.documents[0].second.find("_id")->as_string(), "lost");
  EXPECT_EQ(removed_.bytes.size(), 3u);
}

TEST_F(Repair, ListsOfTheCatalog_AreMadeAnew) {
  change([](Trees& trees, Catalog&, const CollectionMetadata&) -> Status {
    GM_TRY(trees.put(trees.catalog(), std::string("ttest\0c", 7), ""));
    GM_TRY(trees.put(trees.catalog(), "dx", "y"));
    GM_TRY(trees.put(trees.catalog(), prefix_key(kCountsKey, 999), "y"));
    return trees.put(trees.catalog(), "n", "short");
  });
  expect_repaired(AllOf(Contains(HasSubstr("an entry for expiring documents")),
                        Contains(HasSubstr("a released keyspace of the wrong form")),
                        Contains(HasSubstr("counts without a collection")),
                        Contains(HasSubstr("table of keyspaces was rebuilt"))));
  // New collections get keyspaces that no one has.
  const auto transaction = store_->begin();
  ASSERT_TRUE(store_->database("test")->collection("d")->insert(**transaction, doc("{}")));
  ASSERT_TRUE((*transaction)->commit());
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Repair, NextRange_IsAboveAllInUse) {
  change([](Trees& trees, Catalog& catalog, const CollectionMetadata&) -> Status {
    std::vector<uint32_t> keyspaces;
    for (uint32_t tree = 0; tree < trees.tree_count(); ++tree) {
      GM_ASSIGN(const uint32_t count, catalog.keyspaces_in_tree(tree));
      keyspaces.push_back(count);
    }
    return catalog.replace_allocation(2, keyspaces);
  });
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the next keyspace is 2, but the keyspace")));
  expect_repaired(ElementsAre(HasSubstr("table of keyspaces")));
}

TEST_F(Repair, UnlistedExpiringCollection_IsListed) {
  {
    const auto transaction = store_->begin();
    engine::IndexDefinition index{"by_time", doc(R"({"t": 1})"), false};
    index.expire_after_seconds = 1'000'000;
    ASSERT_TRUE(collection()->create_index(**transaction, index));
    ASSERT_TRUE((*transaction)->commit());
  }
  change([](Trees& trees, Catalog&, const CollectionMetadata&) {
    return trees.remove(trees.catalog(), std::string("ttest\0c", 7));
  });
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("is missing from the list of collections with a TTL index")));
  expect_repaired(ElementsAre(HasSubstr("was added to the list of collections with a TTL index")));
}

TEST_F(Repair, DamagedCatalogEntry_IsBeyondRepairAndItsRangesStay) {
  insert(R"({"_id": 6})");
  change([](Trees& trees, Catalog&, const CollectionMetadata& metadata) {
    std::string bytes = metadata.encode().value();
    bytes[10] ^= 1;
    return trees.put(trees.catalog(), std::string("ctest\0c", 7), bytes);
  });
  const std::vector<std::string> before = problems();
  EXPECT_THAT(repair(), IsEmpty());
  EXPECT_THAT(beyond_, AllOf(Contains(HasSubstr("entry of test.c is damaged")),
                             Contains(HasSubstr("belongs to no collection or index whose entry"))));
  EXPECT_EQ(problems(), before);
  EXPECT_THAT(removed_.bytes, IsEmpty());
}

// LMDB frees as many pages as the header of a large value says, so the repair leaves such a record
// alone.
TEST_F(Repair, DamagedHeaderOfAValuesPages_IsBeyondRepair) {
  constexpr size_t kPageBytes = 4096;
  const std::string text(3 * kPageBytes, 'q');
  bson::Builder large;
  large.append("_id", 9).append("text", text);
  {
    const auto transaction = store_->begin();
    ASSERT_TRUE(collection()->insert(**transaction, std::move(large).finish()));
    ASSERT_TRUE((*transaction)->commit());
  }
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(repair(), IsEmpty());
  store_.reset();
  const std::filesystem::path path = folder_ / "store" / "data.mdb";
  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  // A checkpoint is valid only for its own file's contents.
  const auto put = [&path](const std::string& read_view) {
    std::ofstream(path, std::ios::binary) << read_view;
    std::filesystem::remove(path.parent_path() / "checkpoint");
  };
  const size_t page = bytes.find("qqqq") / kPageBytes * kPageBytes;
  ASSERT_EQ(bytes[page + 12], 4);  // pages
  for (const size_t hit : {page + 12, page, page + 10}) {
    std::string damaged = bytes;
    damaged[hit] ^= 8;
    put(damaged);
    open();
    EXPECT_THAT(problems(), ElementsAre(AllOf(HasSubstr("_id 9"), HasSubstr("header"))));
    EXPECT_THAT(repair(), IsEmpty());
    EXPECT_THAT(beyond_, ElementsAre(AllOf(HasSubstr("_id 9"), HasSubstr("header"))));
    store_.reset();
    // The record stays even if its contents are damaged as well.
    damaged[page + 2 * kPageBytes] ^= 1;
    put(damaged);
    open();
    repair();
    EXPECT_THAT(beyond_, ElementsAre(HasSubstr("header")));
    EXPECT_THAT(removed_.bytes, IsEmpty());
    EXPECT_EQ(problems().size(), 2u);
    store_.reset();
  }
}

// The repair makes more changes than fit in one transaction.
TEST_F(Repair, ManyChanges_AreMadeInSteps) {
  constexpr int kMany = 3000;
  {
    const auto transaction = store_->begin();
    for (int id = 100; id < 100 + kMany; ++id) {
      ASSERT_TRUE(collection()->insert(**transaction,
                                       doc(R"({"_id": )" + std::to_string(id) + R"(, "a": 1})")));
    }
    ASSERT_TRUE((*transaction)->commit());
  }
  const auto break_all = [](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    const Keyspace& keyspace = metadata.indexes[1].keyspace;
    while (true) {
      GM_ASSIGN(const std::optional<TreeEntry> found,
                trees.at_or_after(trees.tree(keyspace), keyspace_prefix(keyspace)));
      if (!found || found->key >= keyspace_end(keyspace)) break;
      GM_TRY(trees.remove(trees.tree(keyspace), std::string(found->key)));
    }
    std::string key;
    for (RecordId id = 50'000; id < 50'000 + kMany; ++id) {
      set_index_key(key, metadata.indexes[1], "\x18z", id);
      GM_TRY(trees.put(trees.tree(keyspace), key, ""));
    }
    return {};
  };
  change(break_all);
  EXPECT_THAT(repair(),
              ElementsAre(HasSubstr("3005 entries were added, 3000 entries were removed")));
  EXPECT_GT(removed_.syncs, 6);
  EXPECT_THAT(problems(), IsEmpty());

  // A process that ends within any of the steps leaves a store that can be repaired.
  for (int step = 1; step <= 7; ++step) {
    change(break_all);
    store_.reset();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      open();
      removed_.syncs = 0;
      removed_.syncs_until_end = step;
      repair();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
    open();
    repair();
    EXPECT_THAT(beyond_, IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_EQ(ids().size(), kMany + 5u);
  }
}

// Random entries are removed, or get a flipped bit in the key or the value. The repair ends, and
// undamaged data is there.
TEST_F(Repair, RandomDamage) {
  const char* const given = std::getenv("GRIDMOUNT_TEST_SEED");
  const unsigned first_seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1;
  const unsigned last_seed = given != nullptr ? first_seed : 60;
  for (unsigned seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
    store_.reset();
    std::filesystem::remove_all(folder_);
    DamagedStore::SetUp();
    {
      const auto transaction = store_->begin();
      engine::IndexDefinition unique{"by_b", doc(R"({"b": 1})"), true};
      unique.sparse = true;
      ASSERT_TRUE(collection()->create_index(**transaction, unique));
      for (int id = 10; id < 60; ++id) {
        bson::Builder document;
        document.append("_id", id).append("b", "b" + std::to_string(id));
        document.open_array("a").push(bson::Value(1)).push(bson::Value(id)).close();
        ASSERT_TRUE(collection()->insert(**transaction, std::move(document).finish()));
      }
      ASSERT_TRUE((*transaction)->commit());
    }
    std::mt19937 random(seed);
    std::set<RecordId> hit;
    bool catalog_hit = false;
    change([&](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
      std::vector<std::pair<MDB_dbi, std::string>> all;
      for (uint32_t tree = 0; tree <= trees.tree_count(); ++tree) {
        const MDB_dbi handle = tree == trees.tree_count() ? trees.catalog() : trees.tree({tree, 0});
        std::string from(1, '\0');
        while (true) {
          GM_ASSIGN(const std::optional<TreeEntry> found, trees.at_or_after(handle, from));
          if (!found) break;
          all.emplace_back(handle, found->key);
          from = all.back().second + '\0';
        }
      }
      for (int i = 0; i < 12; ++i) {
        const size_t at = random() % all.size();
        const auto [handle, key] = all[at];
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
        if (handle == trees.catalog()) {
          catalog_hit = true;
        } else if (key.size() == kRecordKeyBytes &&
                   key.starts_with(keyspace_prefix(metadata.records))) {
          hit.insert(*record_id_of(key));
        }
        GM_ASSIGN(const std::optional<std::string_view> found, trees.get(handle, key));
        std::string value(found.value_or(""));
        std::string new_key = key;
        switch (random() % 3) {
          case 0:
            GM_TRY(trees.remove(handle, key));
            continue;
          case 1:
            if (value.empty()) continue;
            value[random() % value.size()] ^= static_cast<char>(1 << random() % 8);
            break;
          default:
            GM_TRY(trees.remove(handle, key));
            new_key[random() % key.size()] ^= static_cast<char>(1 << random() % 8);
            // The new key may be that of another record.
            if (new_key.size() == kRecordKeyBytes &&
                new_key.starts_with(keyspace_prefix(metadata.records))) {
              hit.insert(*record_id_of(new_key));
            }
        }
        GM_TRY(trees.put(handle, new_key, value));
      }
      return {};
    });
    repair();
    const std::vector<std::string> left = problems();
    if (!beyond_.empty()) {
      EXPECT_TRUE(catalog_hit);
      continue;
    }
    EXPECT_THAT(left, IsEmpty());
    EXPECT_THAT(repair(), IsEmpty());
    const auto snapshot = store_->snapshot();
    // The collection's entry may be gone from the catalog, or have another name.
    const auto exists = store_->database("test")->exists(**snapshot, "c");
    if (catalog_hit && !*exists) continue;
    for (RecordId id = 1; id <= 55; ++id) {
      if (hit.contains(id)) continue;
      const int64_t number = id <= 5 ? static_cast<int64_t>(id) : static_cast<int64_t>(id) + 4;
      const auto found = find_one(**snapshot, R"({"_id": )" + std::to_string(number) + "}");
      ASSERT_TRUE(found.has_value()) << found.error().message();
      EXPECT_TRUE(found->has_value()) << number;
    }
  }
}

class OutdatedIndexes : public Repair {
 protected:
  void SetUp() override {
    Repair::SetUp();
    ASSERT_TRUE(commit([&](engine::Transaction& transaction) {
      return store_->database("test")->create(
          transaction, "people", doc(R"({"collation": {"locale": "en", "strength": 2}})"));
    }));
    ASSERT_TRUE(commit([&](engine::Transaction& transaction) -> Status {
      GM_TRY(people()->insert(transaction, doc(R"({"_id": "Ada", "name": "Lovelace"})"), {}));
      return people()->create_index(transaction,
                                    *query::IndexDefinition::parse(doc(R"({"key": {"name": 1}})")));
    }));
  }

  std::unique_ptr<engine::Collection> people() {
    return store_->database("test")->collection("people");
  }

  Status commit(const std::function<Status(engine::Transaction&)>& work) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_->begin());
    GM_TRY(work(*transaction));
    return transaction->commit();
  }

  // Makes the indexes look as if another version of ICU had made them: their version and their sort
  // keys differ.
  void make_outdated() {
    change([](Trees& trees, Catalog& catalog, const CollectionMetadata&) -> Status {
      GM_ASSIGN(const auto metadata, catalog.find({"test", "people"}));
      CollectionMetadata changed = *metadata;
      for (IndexMetadata& index : changed.indexes) {
        index.library_version = "1.2/3.4";
        GM_ASSIGN(const std::optional<TreeEntry> entry,
                  trees.at_or_after(trees.tree(index.keyspace), keyspace_prefix(index.keyspace)));
        if (!entry) return fail(ErrorCode::kInternalError, "no entry");
        const std::string key(entry->key);
        std::string other = key;
        other[6] = static_cast<char>(other[6] + 1);
        const std::string kinds(kinds_of_value(index, entry->value));
        GM_TRY(trees.remove(trees.tree(index.keyspace), key));
        GM_TRY(trees.put(trees.tree(index.keyspace), other, index_value(index, other, 1, kinds)));
      }
      GM_TRY(catalog.put(std::move(changed)));
      return {};
    });
  }

  size_t found(const std::string& filter) {
    const std::unique_ptr<engine::Snapshot> snapshot = *store_->snapshot();
    return static_cast<size_t>(*people()->count(*snapshot, doc(filter), {}));
  }
};

TEST_F(OutdatedIndexes, AreNotReadAndNotWritten) {
  make_outdated();
  for (const char* const filter : {R"({"_id": "ADA"})", R"({"name": "lovelace"})"}) {
    EXPECT_EQ(found(filter), 1U) << filter;
    const std::unique_ptr<engine::Snapshot> snapshot = *store_->snapshot();
    const auto one = people()->find_one(*snapshot, doc(filter), {});
    EXPECT_TRUE(one && *one) << filter;
  }
  const auto refused = [&](const Status& status) {
    EXPECT_TRUE(!status && status.error().code() == ErrorCode::kIllegalOperation);
    if (!status) {
      EXPECT_THAT(status.error().message(), HasSubstr("gridstore check --repair"));
    }
  };
  refused(commit([&](engine::Transaction& transaction) -> Status {
    GM_TRY(people()->insert(transaction, doc(R"({"_id": "ada"})"), {}));
    return {};
  }));
  refused(commit([&](engine::Transaction& transaction) -> Status {
    GM_TRY(people()->update(transaction, doc("{}"), doc(R"({"$set": {"name": "x"}})"), {}));
    return {};
  }));
  refused(commit([&](engine::Transaction& transaction) -> Status {
    GM_TRY(people()->remove(transaction, doc("{}"), true, {}));
    return {};
  }));
}

TEST_F(OutdatedIndexes, AreMadeAnew) {
  make_outdated();
  EXPECT_THAT(problems(), Contains(HasSubstr("version 1.2/3.4")));
  EXPECT_THAT(repair(), Contains(HasSubstr("'name_1' was made anew")));
  EXPECT_THAT(repair(), IsEmpty());
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(found(R"({"_id": "ADA"})"), 1U);
  EXPECT_EQ(found(R"({"name": "lovelace"})"), 1U);
  const Status inserted = commit([&](engine::Transaction& transaction) -> Status {
    GM_TRY(people()->insert(transaction, doc(R"({"_id": "ada"})"), {}));
    return {};
  });
  EXPECT_TRUE(!inserted && inserted.error().code() == ErrorCode::kDuplicateKey);
}

TEST_F(Repair, OutdatedTextIndex_IsMadeAnew) {
  const auto changed = [&](const std::function<Status(engine::Transaction&)>& work) {
    const std::unique_ptr<engine::Transaction> transaction = *store_->begin();
    Status done = work(*transaction);
    return done ? transaction->commit() : done;
  };
  ASSERT_TRUE(changed([&](engine::Transaction& transaction) -> Status {
    GM_TRY(collection()->create_index(transaction, {"words", doc(R"({"story": "text"})")}));
    GM_TRY(
        collection()->insert(transaction, doc(R"({"_id": 900, "story": "running apples"})"), {}));
    return {};
  }));
  change([](Trees&, Catalog& catalog, const CollectionMetadata& metadata) -> Status {
    CollectionMetadata outdated = metadata;
    outdated.indexes.back().library_version = "ICU 1, stems 2";
    GM_TRY(catalog.put(std::move(outdated)));
    return {};
  });
  const bson::Document search = doc(R"({"$text": {"$search": "apple"}})");
  const auto found = [&] { return collection()->count(**store_->snapshot(), search, {}); };
  ASSERT_FALSE(found());
  EXPECT_EQ(found().error().code(), ErrorCode::kIndexNotFound);
  const Status written = changed([&](engine::Transaction& transaction) -> Status {
    GM_TRY(collection()->insert(transaction, doc(R"({"_id": 901, "story": "x"})"), {}));
    return {};
  });
  EXPECT_TRUE(!written && written.error().code() == ErrorCode::kIllegalOperation);
  EXPECT_THAT(problems(), Contains(HasSubstr("ICU 1, stems 2")));
  EXPECT_THAT(repair(), Contains(HasSubstr("'words' was made anew")));
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(*found(), 1);
}

TEST_F(Repair, OldFormat_RefusesTextAndWildcardIndexes) {
  store_.reset();
  std::ofstream(folder_ / "store" / "format", std::ios::trunc) << "gridmount store\nformat 4\n";
  open();
  const std::unique_ptr<engine::Transaction> transaction = *store_->begin();
  for (const char* const keys : {R"({"b": "text"})", R"({"$**": 1})"}) {
    const Status made = collection()->create_index(*transaction, {"words", doc(keys)});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), ErrorCode::kIllegalOperation);
    EXPECT_THAT(made.error().message(), HasSubstr("gridstore upgrade"));
  }
}

TEST_F(Repair, OldFormat_RefusesCollations) {
  store_.reset();
  std::ofstream(folder_ / "store" / "format", std::ios::trunc) << "gridmount store\nformat 3\n";
  open();
  const std::unique_ptr<engine::Transaction> transaction = *store_->begin();
  for (const Status& made :
       {store_->database("test")->create(*transaction, "d",
                                         doc(R"({"collation": {"locale": "en"}})")),
        collection()->create_index(
            *transaction, *query::IndexDefinition::parse(
                              doc(R"({"key": {"b": 1}, "collation": {"locale": "en"}})")))}) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), ErrorCode::kIllegalOperation);
    EXPECT_THAT(made.error().message(), HasSubstr("gridstore upgrade"));
  }
}

}  // namespace
}  // namespace gridmount::local
