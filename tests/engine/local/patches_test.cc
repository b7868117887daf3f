// Goal: after a Binary field was overwritten in parts, every kind of read and of write works as if
// the whole document had been written. Damaged or missing patches are reported, and a repair
// removes patches that belong to no record.
// Method: random operations beside a model in memory; single cases; damage by changes of the trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/catalog/records.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using engine::BinaryOverwrite;
using engine::BinaryPiece;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

using Bytes = std::vector<uint8_t>;

Bytes random_bytes(std::mt19937_64& random, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

bson::Document patched_document(int32_t id, int32_t a, const Bytes& data) {
  bson::Builder builder;
  builder.append("_id", id).append("a", a);
  builder.append("data", bson::Binary{0, data.data(), static_cast<uint32_t>(data.size())});
  return std::move(builder).finish();
}

bson::Document json(const std::string& text) {
  return *bson::document_from_json(text);
}

bson::Document field_is(const char* name, int32_t value) {
  bson::Builder builder;
  builder.append(name, value);
  return std::move(builder).finish();
}

class KeptNowhere : public RemovedData {
 public:
  Status keep_document(const engine::Namespace&, bson::View) override { return {}; }
  Status keep_bytes(const engine::Namespace&, const std::string&, const std::string&,
                    std::string_view) override {
    ++kept;
    return {};
  }
  Status sync() override { return {}; }
  int kept = 0;
};

class PatchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-patches.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    open();
  }
  void TearDown() override {
    collection_.reset();
    store_.reset();
    fs::remove_all(folder_);
  }

  void open(bool upgrade = false) {
    collection_.reset();
    store_.reset();
    OpenOptions options;
    options.create = true;
    options.upgrade = upgrade;
    auto store = local::open(folder_ / "store", options);
    ASSERT_TRUE(store) << store.error().message();
    store_ = std::move(store).value();
    collection_ = store_->database("test")->collection("c");
  }

  std::unique_ptr<engine::Transaction> begin() {
    auto transaction = store_->begin();
    EXPECT_TRUE(transaction);
    return std::move(transaction).value();
  }
  void insert(int32_t id, const Bytes& data) {
    const auto transaction = begin();
    ASSERT_TRUE(collection_->insert(*transaction, patched_document(id, 0, data)));
    ASSERT_TRUE(transaction->commit());
  }
  Result<bool> overwrite(engine::Transaction& transaction, int32_t id, const Bytes& before,
                         uint32_t size, std::span<const BinaryPiece> pieces) {
    return engine::overwrite_binary(*collection_, transaction, field_is("_id", id),
                                    {"data", static_cast<uint32_t>(before.size()), size, pieces});
  }
  // Overwrites one piece of the document's Binary and of `data`.
  void overwrite(int32_t id, Bytes& data, uint32_t offset, const Bytes& bytes) {
    const auto transaction = begin();
    const BinaryPiece piece{offset, bytes};
    const size_t size = std::max(data.size(), offset + bytes.size());
    const Result<bool> done =
        overwrite(*transaction, id, data, static_cast<uint32_t>(size), {&piece, 1});
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_TRUE(*done);
    data.resize(size);
    std::copy(bytes.begin(), bytes.end(), data.begin() + offset);
    ASSERT_TRUE(transaction->commit());
  }
  // Overwrites the document twice, so that its record has two patches.
  void patch_twice(int32_t id, Bytes& data) {
    overwrite(id, data, 0, Bytes(4096, 1));
    overwrite(id, data, 8192, Bytes(4096, 2));
    ASSERT_EQ(patches(id), 2u);
  }

  Bytes data_of(int32_t id) {
    const auto snapshot = store_->snapshot();
    const auto found = collection_->find_one(**snapshot, field_is("_id", id));
    if (!found || !*found) return {};
    const bson::Binary data = (**found)["data"].as_binary();
    return {data.data, data.data + data.size};
  }

  // Runs `work` with the trees of a transaction and the keyspace of the collection's records.
  template <typename Work>
  void with_trees(const Work& work) {
    const auto transaction = begin();
    ReadView& read_view = *dynamic_cast<ReadViewHolder&>(*transaction).read_view();
    const auto metadata = read_view.catalog().find({"test", "c"});
    ASSERT_TRUE(metadata && *metadata);
    work(read_view.trees(), (*metadata)->records);
    ASSERT_TRUE(transaction->commit());
  }
  // Returns the number of patches of the record, or nothing if the record cannot have patches.
  std::optional<size_t> patches(RecordId id) {
    std::optional<size_t> count;
    with_trees([&](Trees& trees, const Keyspace& records) {
      const auto value = get_record(trees, records, id);
      if (!value || !*value || !is_patchable(**value)) return;
      const Result<PatchList> list = get_patch_list(trees, {"test", "c"}, records, id);
      if (list) count = list->offsets.size();
    });
    return count;
  }

  std::vector<std::string> problems() {
    const auto report = check_structure(*store_);
    if (!report) return {report.error().message()};
    return report->problems;
  }
  std::vector<std::string> repair() {
    std::vector<std::string> lines;
    const auto report =
        repair_structure(*store_, {kept_, [&](const std::string& line) { lines.push_back(line); }});
    EXPECT_TRUE(report) << report.error().message();
    return lines;
  }

  fs::path folder_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<engine::Collection> collection_;
  KeptNowhere kept_;
};

constexpr uint32_t kChunkBytes = 256 * 1024;

TEST_F(PatchesTest, SmallOverwrites_WriteOnlyPatches) {
  std::mt19937_64 random(1);
  Bytes data = random_bytes(random, kChunkBytes);
  insert(1, data);
  EXPECT_EQ(patches(1), 0u);
  for (uint32_t i = 1; i <= 16; ++i) {
    overwrite(1, data, i * 8192, random_bytes(random, 4096));
    EXPECT_EQ(patches(1), i);
    EXPECT_EQ(data_of(1), data);
  }
  overwrite(1, data, 8192, random_bytes(random, 4096));
  EXPECT_EQ(patches(1), 16u) << "the block has a patch already";
  overwrite(1, data, 0, random_bytes(random, 10));
  EXPECT_EQ(patches(1), 0u) << "the patches became too many";
  EXPECT_EQ(data_of(1), data);
  open();
  EXPECT_EQ(data_of(1), data);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PatchesTest, Growth_IsPatched) {
  std::mt19937_64 random(2);
  Bytes data = random_bytes(random, 100'000);
  insert(1, data);
  overwrite(1, data, 100'000, random_bytes(random, 80));
  for (int i = 0; i < 200; ++i) {
    overwrite(1, data, static_cast<uint32_t>(data.size()), random_bytes(random, 80));
    ASSERT_GE(patches(1).value_or(0), 1u);
  }
  EXPECT_EQ(data_of(1), data);
  const auto snapshot = store_->snapshot();
  const auto stats = collection_->stats(**snapshot);
  EXPECT_EQ(stats->document_bytes, int64_t{patched_document(1, 0, data).view().size()});
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PatchesTest, GrowthWithoutPieces_AddsZeros) {
  Bytes data(50'000, 7);
  insert(1, data);
  patch_twice(1, data);
  const auto transaction = begin();
  ASSERT_TRUE(*overwrite(*transaction, 1, data, 60'000, {}));
  ASSERT_TRUE(transaction->commit());
  data.resize(60'000);
  EXPECT_EQ(data_of(1), data);
  EXPECT_EQ(patches(1), 0u) << "too many patches for the size: the record was written anew";
}

TEST_F(PatchesTest, AnyRead_HasThePatches) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  insert(2, Bytes(10, 1));
  patch_twice(1, data);
  const bson::Document whole = patched_document(1, 0, data);
  const auto snapshot = store_->snapshot();
  const auto first = [&](bson::View filter, const engine::FindOptions& options) -> bson::Document {
    const auto cursor = collection_->find(**snapshot, filter, options);
    const auto found = (*cursor)->next();
    return found && *found ? bson::Document(**found) : bson::Document();
  };
  const auto expect_whole = [&](const bson::Document& found) {
    EXPECT_EQ(found.view().size(), whole.view().size());
    EXPECT_TRUE(std::equal(whole.view().bytes().begin(), whole.view().bytes().end(),
                           found.view().bytes().begin(), found.view().bytes().end()));
  };
  expect_whole(first(bson::View(), {}));
  expect_whole(first(json(R"({"_id": {"$lt": 2}})"), {}));
  expect_whole(first(json(R"({"a": 0})"), {}));
  const bson::Document by_a = json(R"({"a": 1, "_id": 1})");
  expect_whole(first(bson::View(), {.sort = by_a}));
  const bson::Document backward = json(R"({"$natural": -1})");
  const auto cursor = collection_->find(**snapshot, bson::View(), {.sort = backward});
  ASSERT_TRUE(*(*cursor)->next());
  expect_whole(bson::Document(**(*cursor)->next()));
  EXPECT_FALSE(*(*cursor)->next());
  const bson::Document same = patched_document(1, 0, data);
  EXPECT_EQ(*collection_->count(**snapshot, same), 1);
}

TEST_F(PatchesTest, WritesOfWholeDocuments_LeaveNoPatches) {
  for (int32_t id = 1; id <= 3; ++id) {
    Bytes data(kChunkBytes, static_cast<uint8_t>(id));
    insert(id, data);
    patch_twice(id, data);
  }
  {
    const auto transaction = begin();
    ASSERT_TRUE(
        collection_->update(*transaction, field_is("_id", 1), json(R"({"$set": {"a": 5}})")));
    ASSERT_TRUE(collection_->update(*transaction, field_is("_id", 2), json(R"({"b": 1})")));
    ASSERT_TRUE(collection_->remove(*transaction, field_is("_id", 3), false));
    ASSERT_TRUE(transaction->commit());
  }
  Bytes data(kChunkBytes, 1);
  std::fill_n(data.begin(), 4096, 1);
  std::fill_n(data.begin() + 8192, 4096, 2);
  EXPECT_EQ(data_of(1), data);
  EXPECT_EQ(patches(1), std::nullopt);
  EXPECT_EQ(patches(2), std::nullopt);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PatchesTest, OverwriteThatIsNotCommitted_ChangesNothing) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  patch_twice(1, data);
  {
    const auto transaction = begin();
    const Bytes bytes(4096, 9);
    const BinaryPiece piece{20'480, bytes};
    ASSERT_TRUE(*overwrite(*transaction, 1, data, kChunkBytes, {&piece, 1}));
  }
  EXPECT_EQ(data_of(1), data);
  EXPECT_EQ(patches(1), 2u);
}

TEST_F(PatchesTest, WhatDoesNotFit_IsNotWritten) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  const auto transaction = begin();
  const Bytes bytes(10, 9);
  const BinaryPiece piece{0, bytes};
  const auto call = [&](int32_t id, const BinaryOverwrite& change) {
    return engine::overwrite_binary(*collection_, *transaction, field_is("_id", id), change);
  };
  EXPECT_FALSE(*call(2, {"data", kChunkBytes, kChunkBytes, {&piece, 1}}));
  EXPECT_FALSE(*call(1, {"data", 5, kChunkBytes, {&piece, 1}}));
  EXPECT_FALSE(*call(1, {"a", 4, 10, {&piece, 1}}));
  EXPECT_FALSE(*call(1, {"b", 4, 10, {&piece, 1}}));
  EXPECT_EQ(call(1, {"data", kChunkBytes, 100, {&piece, 1}}).error().code(), ErrorCode::kBadValue);
  const BinaryPiece pieces[] = {{5, bytes}, {0, bytes}};
  EXPECT_EQ(call(1, {"data", kChunkBytes, kChunkBytes, pieces}).error().code(),
            ErrorCode::kBadValue);
  EXPECT_EQ(call(1, {"data", kChunkBytes, UINT32_MAX, {&piece, 1}}).error().code(),
            ErrorCode::kBsonObjectTooLarge);
  const BinaryPiece beyond{kChunkBytes - 5, bytes};
  EXPECT_EQ(call(1, {"data", kChunkBytes, kChunkBytes, {&beyond, 1}}).error().code(),
            ErrorCode::kBadValue);
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(data_of(1), data);
}

TEST_F(PatchesTest, Size_IsThatOfTheFieldWithItsPatches) {
  const auto size_of = [&](const bson::Document& filter, std::string_view field) {
    auto& overwriter = dynamic_cast<engine::BinaryOverwriter&>(*collection_);
    const auto snapshot = store_->short_snapshot();
    return *overwriter.binary_size(**snapshot, filter, field);
  };
  Bytes data(kChunkBytes, 7);
  EXPECT_EQ(size_of(field_is("_id", 1), "data"), std::nullopt);
  insert(1, data);
  EXPECT_EQ(size_of(field_is("_id", 1), "data"), kChunkBytes);
  ASSERT_NO_FATAL_FAILURE(patch_twice(1, data));
  EXPECT_EQ(size_of(field_is("_id", 1), "data"), kChunkBytes);
  overwrite(1, data, kChunkBytes - 10, Bytes(1000, 3));
  EXPECT_EQ(size_of(field_is("_id", 1), "data"), kChunkBytes + 990);
  EXPECT_EQ(size_of(field_is("a", 0), "data"), kChunkBytes + 990);  // no index has this field
  EXPECT_EQ(size_of(field_is("_id", 1), "a"), std::nullopt);
  EXPECT_EQ(size_of(field_is("_id", 1), "b"), std::nullopt);
  EXPECT_EQ(size_of(field_is("_id", 2), "data"), std::nullopt);
}

TEST_F(PatchesTest, IndexOnTheField_GetsTheWholeDocument) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  EXPECT_EQ(patches(1), 0u);
  {
    const auto transaction = begin();
    engine::IndexDefinition index{"data_1", field_is("data", 1), false};
    ASSERT_TRUE(collection_->create_index(*transaction, index));
    ASSERT_TRUE(transaction->commit());
  }
  overwrite(1, data, 0, Bytes(4096, 1));
  overwrite(1, data, 4096, Bytes(4096, 2));
  EXPECT_EQ(patches(1), std::nullopt);
  EXPECT_THAT(problems(), IsEmpty());
  const bson::Document filter = patched_document(1, 0, data);
  bson::Builder by_data;
  by_data.append("data", filter.view()["data"]);
  const auto snapshot = store_->snapshot();
  EXPECT_EQ(*collection_->count(**snapshot, std::move(by_data).finish()), 1);
}

TEST_F(PatchesTest, StoreOfVersion3_GetsPatchesAfterTheUpgrade) {
  Bytes data(kChunkBytes, 7);
  const auto set_version = [&](int version) {
    collection_.reset();
    store_.reset();
    std::ofstream(folder_ / "store" / "format", std::ios::trunc)
        << "gridmount store\nformat " << version << "\n";
  };
  set_version(3);
  open();
  insert(1, data);
  overwrite(1, data, 0, Bytes(4096, 1));
  overwrite(1, data, 4096, Bytes(4096, 2));
  EXPECT_EQ(patches(1), std::nullopt);
  EXPECT_EQ(data_of(1), data);
  open(/*upgrade=*/true);
  open();
  EXPECT_EQ(format_version_of(*store_), kFormatVersion);
  overwrite(1, data, 0, Bytes(4096, 4));
  EXPECT_EQ(patches(1), 0u) << "the first overwrite writes the record anew";
  patch_twice(1, data);
  EXPECT_EQ(data_of(1), data);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PatchesTest, LostOrDamagedPatch_IsReportedAndTheRecordRemoved) {
  for (const bool is_lost : {true, false}) {
    for (const bool is_list : {true, false}) {
      SCOPED_TRACE(std::string(is_lost ? "lost" : "damaged") + (is_list ? " list" : " patch"));
      Bytes data(kChunkBytes, 7);
      insert(1, data);
      insert(2, data);
      RecordId id = 0;
      with_trees([&](Trees& trees, const Keyspace& records) {
        for (RecordId i = 1; i < 20; ++i) {
          const auto value = get_record(trees, records, i);
          if (id == 0 && value && *value) id = i;
        }
      });
      overwrite(1, data, 0, Bytes(4096, 1));
      overwrite(1, data, 8192, Bytes(4096, 2));
      with_trees([&](Trees& trees, const Keyspace& records) {
        const RecordKey record(records, id);
        const Result<PatchList> list = get_patch_list(trees, {"test", "c"}, records, id);
        ASSERT_TRUE(list);
        const std::string key =
            is_list ? patch_list_key(record) : patch_key(record, list->offsets[0]);
        if (is_lost) {
          ASSERT_TRUE(trees.remove(trees.tree(records), key));
        } else {
          std::string value(**trees.get(trees.tree(records), key));
          value[3] ^= 1;
          ASSERT_TRUE(trees.put(trees.tree(records), key, value));
        }
      });
      {
        const auto snapshot = store_->snapshot();
        const auto found = collection_->find_one(**snapshot, field_is("_id", 1));
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code(), ErrorCode::kDataCorruptionDetected);
        EXPECT_THAT(found.error().message(), HasSubstr("patches"));
      }
      EXPECT_THAT(problems(), Contains(HasSubstr("patches")));
      EXPECT_THAT(repair(), Contains(HasSubstr("its patches are damaged or missing")));
      EXPECT_THAT(problems(), IsEmpty());
      EXPECT_EQ(data_of(2), Bytes(kChunkBytes, 7));
      const auto transaction = begin();
      ASSERT_EQ(*collection_->remove(*transaction, bson::View(), true), 1);
      ASSERT_TRUE(transaction->commit());
    }
  }
}

TEST_F(PatchesTest, PatchOfNoRecord_IsReportedAndRemoved) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  patch_twice(1, data);
  with_trees([&](Trees& trees, const Keyspace& records) {
    for (const RecordId id : {RecordId{1}, RecordId{77}}) {
      const std::string key = patch_key(RecordKey(records, id), 50'000);
      ASSERT_TRUE(trees.put(trees.tree(records), key, patch_value("stray", records.tree, key)));
    }
  });
  EXPECT_EQ(data_of(1), data);
  EXPECT_THAT(problems(), testing::SizeIs(2));
  EXPECT_THAT(repair(), testing::SizeIs(2));
  EXPECT_EQ(kept_.kept, 2);
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(data_of(1), data);
}

TEST_F(PatchesTest, CompactedStore_HasThePatches) {
  Bytes data(kChunkBytes, 7);
  insert(1, data);
  patch_twice(1, data);
  collection_.reset();
  store_.reset();
  ASSERT_TRUE(compact_store(folder_ / "store"));
  open();
  EXPECT_EQ(data_of(1), data);
  EXPECT_EQ(patches(1), 2u);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PatchesTest, RandomOperations_EqualTheModel) {
  const char* const given = std::getenv("GRIDMOUNT_PATCHES_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("GRIDMOUNT_PATCHES_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::map<int32_t, std::pair<int32_t, Bytes>> model;
  const auto below = [&](size_t limit) { return limit == 0 ? size_t{0} : random() % limit; };
  const auto check = [&](engine::Snapshot& snapshot) {
    std::map<int32_t, std::pair<int32_t, Bytes>> found;
    const auto cursor = collection_->find(snapshot, bson::View());
    while (true) {
      const auto next = (*cursor)->next();
      ASSERT_TRUE(next) << next.error().message();
      if (!*next) break;
      const bson::Binary data = (**next)["data"].as_binary();
      found[(**next)["_id"].as_int32()] = {(**next)["a"].as_int32(),
                                           {data.data, data.data + data.size}};
    }
    ASSERT_TRUE(found == model);
  };
  for (int step = 0; step < 250; ++step) {
    auto transaction = begin();
    const auto before = model;
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const auto id = static_cast<int32_t>(below(4));
      const auto at = model.find(id);
      const size_t kind = below(12);
      if (at == model.end()) {
        Bytes data = random_bytes(random, below(3) == 0 ? below(5000) : 30'000 + below(200'000));
        ASSERT_TRUE(collection_->insert(*transaction, patched_document(id, 0, data)));
        model[id] = {0, std::move(data)};
      } else if (kind == 0) {
        ASSERT_EQ(*collection_->remove(*transaction, field_is("_id", id), false), 1);
        model.erase(at);
      } else if (kind == 1) {
        ++at->second.first;
        ASSERT_TRUE(
            collection_->update(*transaction, field_is("_id", id), json(R"({"$inc": {"a": 1}})")));
      } else {
        Bytes& data = at->second.second;
        const size_t size = data.size() + (below(3) == 0 ? below(9000) : 0);
        std::vector<Bytes> contents;
        std::vector<BinaryPiece> pieces;
        Bytes after = data;
        after.resize(size);
        size_t from = below(size);
        while (from < size && pieces.size() < 3) {
          size_t bytes = 1 + below(std::min<size_t>(size - from, 12'000));
          if (below(2) == 0) {
            from = from / 4096 * 4096;
            bytes = std::min<size_t>(4096, size - from);
          }
          if (!pieces.empty() && from < pieces.back().offset + contents.back().size()) break;
          contents.push_back(random_bytes(random, bytes));
          std::copy(contents.back().begin(), contents.back().end(),
                    after.begin() + static_cast<ptrdiff_t>(from));
          pieces.push_back({static_cast<uint32_t>(from), {}});
          from += bytes + below(20'000);
        }
        for (size_t i = 0; i < pieces.size(); ++i) pieces[i].bytes = contents[i];
        const auto done = overwrite(*transaction, id, data, static_cast<uint32_t>(size), pieces);
        ASSERT_TRUE(done) << done.error().message();
        ASSERT_TRUE(*done);
        data = std::move(after);
      }
      if (below(4) == 0) check(*transaction);
    }
    if (below(6) == 0) {
      model = before;
    } else {
      ASSERT_TRUE(transaction->commit(below(5) == 0 ? engine::Durability::kDurable
                                                    : engine::Durability::kCommitted));
    }
    if (HasFatalFailure()) return;
    transaction.reset();
    if (below(10) == 0) check(**store_->snapshot());
    if (below(40) == 0) open();
  }
  check(**store_->snapshot());
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::local
