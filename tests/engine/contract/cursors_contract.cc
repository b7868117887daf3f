// Goal: cursors wait between batches while others write: paused snapshots, the registry of cursors,
// tailable cursors.
// Source: MongoDB manual, "Cursors", "Tailable Cursors".
#include "engine/cursors/cursor_registry.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using cursors::BatchLimits;
using cursors::CursorBatch;
using cursors::CursorRegistry;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ErrorCode kQueryPlanKilled{175};
constexpr ErrorCode kCappedPositionLost{136};

std::string numbered(int i) {
  return R"({"_id": )" + std::to_string(i) + R"(, "n": )" + std::to_string(i) + "}";
}

std::vector<int64_t> ids_of(const std::vector<bson::Document>& documents) {
  std::vector<int64_t> ids;
  for (const bson::Document& document : documents) {
    ids.push_back(document.view()["_id"].integral().value_or(-1));
  }
  return ids;
}

std::vector<int64_t> ids_of(const Result<CursorBatch>& batch) {
  EXPECT_THAT(batch, Succeeded());
  return batch ? ids_of(batch->documents) : std::vector<int64_t>();
}

class Reading {
 public:
  Reading(std::unique_ptr<Snapshot> snapshot, Collection& collection, std::string_view filter,
          const FindOptions& options = {})
      : snapshot_(std::move(snapshot)) {
    auto cursor = collection.find(*snapshot_, doc(filter), options);
    EXPECT_THAT(cursor, Succeeded());
    if (cursor) cursor_ = *std::move(cursor);
  }
  // Returns -1 at the end.
  Result<int64_t> next() {
    GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
    if (!document) return int64_t{-1};
    return (*document)["_id"].integral().value_or(-2);
  }
  Snapshot& snapshot() { return *snapshot_; }

 private:
  std::unique_ptr<Snapshot> snapshot_;
  std::unique_ptr<Cursor> cursor_;
};

TEST_P(StoreContract, Pause_CursorsGoOnBehindTheirPlace) {
  GM_NEEDS(live_cursors);
  for (int i = 0; i < 10; ++i) insert(numbered(i));
  create_index(R"({"n": -1})");
  const auto check = [&](const FindOptions& options, const std::vector<int64_t>& expected) {
    Reading reading(snapshot(), *collection(), "{}", options);
    std::vector<int64_t> seen;
    for (int i = 0; i < 3; ++i) seen.push_back(*reading.next());
    EXPECT_THAT(reading.snapshot().pause(), Succeeded());
    EXPECT_THAT(reading.next(), FailedWith(ErrorCode::kIllegalOperation));
    EXPECT_THAT(reading.snapshot().pause(), FailedWith(ErrorCode::kIllegalOperation));
    EXPECT_EQ(remove(R"({"_id": {"$in": [2, 3, 7]}})"), 3);
    insert(numbered(20));
    EXPECT_THAT(reading.snapshot().resume(), Succeeded());
    EXPECT_THAT(reading.snapshot().resume(), FailedWith(ErrorCode::kIllegalOperation));
    while (true) {
      const int64_t id = *reading.next();
      if (id == -1) break;
      seen.push_back(id);
    }
    EXPECT_EQ(seen, expected);
    remove(R"({"_id": 20})");
    for (const int i : {2, 3, 7}) insert(numbered(i));
  };
  FindOptions natural;
  check(natural, {0, 1, 2, 4, 5, 6, 8, 9, 20});
  const bson::Document by_n = doc(R"({"n": -1})");
  FindOptions by_index;
  by_index.sort = by_n;
  check(by_index, {9, 8, 7, 6, 5, 4, 1, 0});
  const bson::Document by_id = doc(R"({"_id": 1})");
  FindOptions by_primary;
  by_primary.sort = by_id;
  check(by_primary, {0, 1, 2, 4, 5, 6, 8, 9, 20});
  // The results were gathered before the pause, so new documents are not returned.
  const bson::Document buffered = doc(R"({"n": 1, "x": 1})");
  FindOptions in_a_buffer;
  in_a_buffer.sort = buffered;
  check(in_a_buffer, {0, 1, 2, 4, 5, 6, 8, 9});
}

// A search with scores has read all index entries before it returns the first document.
TEST_P(StoreContract, Pause_TextSearchTestsWhatHasChanged) {
  GM_NEEDS(live_cursors);
  create_index(R"({"a": "text"})");
  for (int i = 0; i < 3; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": "apple"})");
  }
  const bson::Document projection = doc(R"({"score": {"$meta": "textScore"}})");
  FindOptions options;
  options.projection = projection;
  Reading reading(snapshot(), *collection(), R"({"$text": {"$search": "apple"}})", options);
  const int64_t first = *reading.next();
  EXPECT_THAT(reading.snapshot().pause(), Succeeded());
  const std::string others = R"({"_id": {"$ne": )" + std::to_string(first) + "}}";
  EXPECT_EQ(update(others, R"({"$set": {"a": "pear"}})", {.multi = true}).modified, 2);
  EXPECT_THAT(reading.snapshot().resume(), Succeeded());
  EXPECT_EQ(*reading.next(), -1);
}

TEST_P(StoreContract, Pause_TransactionsCannot) {
  const auto transaction = begin();
  EXPECT_THAT(transaction->pause(), FailedWith(ErrorCode::kIllegalOperation));
}

TEST_P(StoreContract, Pause_CursorEndsWithItsCollectionOrIndex) {
  GM_NEEDS(live_cursors);
  for (int i = 0; i < 5; ++i) insert(numbered(i));
  create_index(R"({"n": 1})");
  const auto after = [&](const std::function<Status(Transaction&)>& change) {
    Reading reading(snapshot(), *collection(), R"({"n": {"$gte": 0}})");
    EXPECT_EQ(*reading.next(), 0);
    EXPECT_THAT(reading.snapshot().pause(), Succeeded());
    EXPECT_THAT(commit(change), Succeeded());
    EXPECT_THAT(reading.snapshot().resume(), Succeeded());
    return reading.next();
  };
  EXPECT_EQ(*after([&](Transaction& transaction) {
    return collection()->create_index(transaction,
                                      *IndexDefinition::parse(doc(R"({"key": {"x": 1}})")));
  }),
            1);
  EXPECT_THAT(
      after([&](Transaction& transaction) { return collection()->drop_index(transaction, "n_1"); }),
      FailedWith(kQueryPlanKilled));
  EXPECT_THAT(after([&](Transaction& transaction) { return db()->drop(transaction, "c"); }),
              FailedWith(kQueryPlanKilled));
}

TEST_P(StoreContract, Pause_PipelinesGoOn) {
  insert(R"({"_id": 1, "a": [1, 2, 3]})");
  insert(R"({"_id": 2, "a": [4]})");
  const bson::Document holder = doc(R"({"p": [{"$unwind": "$a"}]})");
  const auto view = snapshot();
  const auto cursor = collection()->aggregate(*view, holder.view()["p"].as_document());
  ASSERT_THAT(cursor, Succeeded());
  EXPECT_EQ(json(**(*cursor)->next()), json(doc(R"({"_id": 1, "a": 1})")));
  EXPECT_THAT(view->pause(), Succeeded());
  for (int i = 0; i < 50; ++i)
    update(R"({"_id": 1})", R"({"$set": {"a": [)" + std::to_string(i) + "]}}");
  EXPECT_THAT(view->resume(), Succeeded());
  EXPECT_EQ(json(**(*cursor)->next()), json(doc(R"({"_id": 1, "a": 2})")));
  EXPECT_EQ(json(**(*cursor)->next()), json(doc(R"({"_id": 1, "a": 3})")));
  EXPECT_EQ(json(**(*cursor)->next()), json(doc(R"({"_id": 2, "a": 4})")));
  EXPECT_FALSE((*cursor)->next()->has_value());
}

class Registered {
 public:
  Registered(CursorRegistry& registry, Namespace ns) : registry_(registry), ns_(std::move(ns)) {}
  Result<CursorBatch> open(std::unique_ptr<Snapshot> snapshot, Collection& collection,
                           const BatchLimits& limits, const cursors::CursorOptions& options = {}) {
    FindOptions find;
    find.tailable = options.tailable;
    GM_ASSIGN(std::unique_ptr<Cursor> cursor, collection.find(*snapshot, bson::View(), find));
    return registry_.open(ns_, std::move(snapshot), std::move(cursor), options, limits);
  }
  Result<CursorBatch> more(int64_t id, const BatchLimits& limits) {
    return registry_.get_more(id, ns_, limits);
  }

 private:
  CursorRegistry& registry_;
  Namespace ns_;
};

TEST_P(StoreContract, Registry_GivesBatchesToTheEnd) {
  GM_NEEDS(live_cursors);
  for (int i = 0; i < 7; ++i) insert(numbered(i));
  CursorRegistry registry({});
  Registered reader(registry, {"test", "c"});
  const auto first = reader.open(snapshot(), *collection(), {.documents = 3});
  EXPECT_THAT(ids_of(first), ElementsAre(0, 1, 2));
  ASSERT_NE(first->id, 0);
  insert(numbered(7));
  remove(R"({"_id": 4})");
  EXPECT_THAT(ids_of(reader.more(first->id, {.documents = 3})), ElementsAre(3, 5, 6));
  const auto last = reader.more(first->id, {});
  EXPECT_THAT(ids_of(last), ElementsAre(7));
  EXPECT_EQ(last->id, 0);
  EXPECT_EQ(registry.size(), 0U);
  EXPECT_THAT(reader.more(first->id, {}), FailedWith(ErrorCode::kCursorNotFound));
}

TEST_P(StoreContract, Registry_BoundsBatchesInBytes) {
  for (int i = 0; i < 5; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "text": ")" + std::string(100, 'x') + R"("})");
  }
  CursorRegistry registry({});
  Registered reader(registry, {"test", "c"});
  auto batch = reader.open(snapshot(), *collection(), {.bytes = 300});
  EXPECT_THAT(ids_of(batch), ElementsAre(0, 1));
  const int64_t id = batch->id;
  EXPECT_THAT(ids_of(reader.more(id, {.bytes = 300})), ElementsAre(2, 3));
  // A document that does not fit in any batch is returned alone.
  EXPECT_THAT(ids_of(reader.more(id, {.bytes = 1})), ElementsAre(4));
}

// If the cursors hold as many bytes as they may, a batch ends before a document that might not fit
// in the batch.
TEST_P(StoreContract, Registry_HoldsNoMoreThanItMay) {
  GM_NEEDS(live_cursors);
  for (int i = 0; i < 4; ++i) insert(numbered(i));
  CursorRegistry registry({.held_bytes_max = 40});
  Registered reader(registry, {"test", "c"});
  const BatchLimits small{.bytes = 30};  // a document has 23 bytes
  const auto holds = reader.open(snapshot(), *collection(), small);
  EXPECT_THAT(ids_of(holds), ElementsAre(0));
  const auto reads_no_further = reader.open(snapshot(), *collection(), small);
  EXPECT_THAT(ids_of(reads_no_further), ElementsAre(0));
  // The cursor has not read document 1 yet, so it does not return it after the removal.
  EXPECT_EQ(remove(R"({"_id": 1})"), 1);
  EXPECT_THAT(ids_of(reader.more(reads_no_further->id, {})), ElementsAre(2, 3));
  EXPECT_THAT(ids_of(reader.more(holds->id, {})), ElementsAre(1, 2, 3));
}

TEST_P(StoreContract, Registry_OfNothing_WaitsForTheFirstBatch) {
  insert(numbered(0));
  CursorRegistry registry({});
  Registered reader(registry, {"test", "c"});
  const auto none = reader.open(snapshot(), *collection(), {.documents = 0});
  EXPECT_THAT(none->documents, IsEmpty());
  EXPECT_NE(none->id, 0);
  EXPECT_THAT(ids_of(reader.more(none->id, {})), ElementsAre(0));
}

TEST_P(StoreContract, Registry_KillsAndExpires) {
  for (int i = 0; i < 5; ++i) insert(numbered(i));
  CursorRegistry registry({.idle_max = std::chrono::minutes(10), .cursors_max = 2});
  Registered reader(registry, {"test", "c"});
  const BatchLimits one{.documents = 1};
  const auto killed = reader.open(snapshot(), *collection(), one);
  EXPECT_TRUE(registry.kill(killed->id));
  EXPECT_FALSE(registry.kill(killed->id));
  const auto idle = reader.open(snapshot(), *collection(), one);
  const auto kept = reader.open(snapshot(), *collection(), one, {.no_timeout = true});
  EXPECT_THAT(reader.open(snapshot(), *collection(), one), FailedWith(ErrorCode::kOperationFailed));
  EXPECT_THAT(registry.get_more(idle->id, {"test", "other"}, one),
              FailedWith(ErrorCode::kUnauthorized));
  EXPECT_EQ(registry.expire(cursors::Clock::now()), 0U);
  EXPECT_EQ(registry.expire(cursors::Clock::now() + std::chrono::minutes(11)), 1U);
  EXPECT_THAT(reader.more(idle->id, one), FailedWith(ErrorCode::kCursorNotFound));
  EXPECT_THAT(ids_of(reader.more(kept->id, one)), ElementsAre(1));
}

TEST_P(StoreContract, Tailable_WaitsForDocuments) {
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "log",
                                    doc(R"({"capped": true, "size": 4096, "max": 3})"));
              }),
              Succeeded());
  for (int i = 0; i < 2; ++i) insert(numbered(i), "log");
  CursorRegistry registry({});
  Registered reader(registry, {"test", "log"});
  const auto first = reader.open(snapshot(), *collection("log"), {}, {.tailable = true});
  EXPECT_THAT(ids_of(first), ElementsAre(0, 1));
  ASSERT_NE(first->id, 0);
  EXPECT_THAT(ids_of(reader.more(first->id, {})), IsEmpty());
  insert(numbered(2), "log");
  EXPECT_THAT(ids_of(reader.more(first->id, {})), ElementsAre(2));
  insert(numbered(3), "log");
  insert(numbered(4), "log");
  EXPECT_THAT(ids_of(reader.more(first->id, {})), ElementsAre(3, 4));
  for (int i = 5; i < 9; ++i) insert(numbered(i), "log");
  EXPECT_THAT(reader.more(first->id, {}), FailedWith(kCappedPositionLost));
  EXPECT_THAT(reader.more(first->id, {}), FailedWith(ErrorCode::kCursorNotFound));

  insert(numbered(0));
  EXPECT_THAT(reader.open(snapshot(), *collection(), {}, {.tailable = true}),
              FailedWith(ErrorCode::kBadValue));
}

// Only the natural order may be requested.
TEST_P(StoreContract, Tailable_TakesTheNaturalOrderAlone) {
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "log", doc(R"({"capped": true, "size": 4096})"));
              }),
              Succeeded());
  insert(numbered(7), "log");
  const auto view = snapshot();
  const auto open = [&](const std::string& sort) {
    const bson::Document order = doc(sort);
    FindOptions options;
    options.tailable = true;
    options.sort = order;
    return collection("log")->find(*view, bson::View(), options);
  };
  const auto cursor = open(R"({"$natural": 1})");
  ASSERT_TRUE(cursor.has_value());
  EXPECT_EQ(json(**(*cursor)->next()), json(doc(numbered(7))));
  for (const char* sort : {R"({"$natural": -1})", R"({"_id": 1})", R"({"$natural": 1, "a": 1})"}) {
    EXPECT_THAT(open(sort), FailedWith(ErrorCode::kBadValue)) << sort;
  }
}

}  // namespace
}  // namespace gridmount::engine
