// Goal: transactions, snapshots and cursors are isolated, roll back, and show readers the right
// contents while others write.

#include <atomic>
#include <thread>

#include "engine/error_labels.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

constexpr ErrorCode kWriteConflict{112};
constexpr ErrorCode kNoSuchTransaction{251};
constexpr ErrorCode kOperationNotSupportedInTransaction{263};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(StoreContract, Transaction_SeesItsOwnWrites_OthersDoNotUntilCommit) {
  GM_NEEDS(transactions);
  insert(R"({"_id": 1})");
  const auto before = snapshot();
  const auto transaction = begin();
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 2})")), Succeeded());
  EXPECT_EQ(find_in(*transaction, "{}").size(), 2u);
  EXPECT_EQ(*collection()->count(*transaction, bson::View()), 2);
  EXPECT_EQ(find_in(*snapshot(), "{}").size(), 1u);
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_EQ(find_in(*snapshot(), "{}").size(), 2u);
  GM_NEEDS(stable_snapshots);
  EXPECT_EQ(find_in(*before, "{}").size(), 1u);
  EXPECT_EQ(*collection()->count(*before, bson::View()), 1);
}

TEST_P(StoreContract, Transaction_Destroyed_UndoesAll) {
  GM_NEEDS(transactions);
  create_index(R"({"a": 1})");
  insert(R"({"_id": 1, "a": 1})");
  {
    const auto transaction = begin();
    EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 2, "a": 1})")), Succeeded());
    EXPECT_THAT(
        collection()->update(*transaction, doc(R"({"_id": 1})"), doc(R"({"$set": {"a": 5}})")),
        Succeeded());
    EXPECT_THAT(collection("other")->insert(*transaction, doc("{}")), Succeeded());
  }
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "a" : 1 })"));
  EXPECT_THAT(ids(R"({"a": 1})"), ElementsAre("1"));
  EXPECT_EQ(collection()->stats(*snapshot())->documents, 1);
  EXPECT_THAT(collection_names(), ElementsAre("c"));
}

TEST_P(StoreContract, Snapshot_OfTheSameVersion_HasTheSameContents) {
  insert(R"({"_id": 1})");
  const auto before = snapshot();
  const std::optional<uint64_t> version = before->version();
  if (version) {
    EXPECT_EQ(snapshot()->version(), version) << "nothing was committed in between";
    (void)begin();
    EXPECT_EQ(snapshot()->version(), version) << "a transaction without a commit";
  }
  // The version also changes after short transactions, which the store may combine.
  for (const TransactionKind kind : {TransactionKind::kShort, TransactionKind::kMayBlock}) {
    for (int i = 0; i < 3; ++i) {
      const std::optional<uint64_t> last = snapshot()->version();
      auto transaction = store().begin(kind);
      ASSERT_THAT(transaction, Succeeded());
      EXPECT_EQ((*transaction)->version(), std::nullopt);
      EXPECT_THAT(collection()->insert(**transaction, doc("{}")), Succeeded());
      EXPECT_THAT((*transaction)->commit(), Succeeded());
      if (version) {
        EXPECT_NE(snapshot()->version(), last);
      }
    }
  }
  EXPECT_EQ(before->version(), version);
  EXPECT_THAT(before->pause(), Succeeded());
  EXPECT_EQ(before->version(), std::nullopt);
  EXPECT_THAT(before->resume(), Succeeded());
  EXPECT_EQ(before->version(), snapshot()->version());
}

TEST_P(StoreContract, Transaction_OverCollections_CommitsTogether) {
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection("files")->insert(transaction, doc(R"({"_id": 1})")));
                GM_TRY(collection("chunks")->insert(transaction, doc(R"({"_id": 1})")));
                return {};
              }),
              Succeeded());
  const auto view = snapshot();
  EXPECT_EQ(find_in(*view, "{}", {}, "files").size(), 1u);
  EXPECT_EQ(find_in(*view, "{}", {}, "chunks").size(), 1u);
}

TEST_P(StoreContract, Transaction_FailedInsert_LeavesItAsBefore) {
  GM_NEEDS(continues_after_failed_writes);
  create_index(R"({"a": 1})");
  create_index(R"({"z": 1})", true);
  insert(R"({"_id": 1, "a": 1, "z": 1})");
  const auto transaction = begin();
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 2, "a": 1, "z": 2})")),
              Succeeded());
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 3, "a": 1, "z": 1})")),
              FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_EQ(find_in(*transaction, R"({"a": 1})").size(), 2u);
  EXPECT_EQ(collection()->stats(*transaction)->documents, 2);
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 3, "a": 1, "z": 3})")),
              Succeeded());
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_EQ(count(R"({"a": 1})"), 3);
}

TEST_P(StoreContract, Transaction_FailedInsert_EndsItWhereItCannotContinue) {
  if (store().capabilities().continues_after_failed_writes) {
    GTEST_SKIP() << "the transaction continues";
  }
  insert(R"({"_id": 1})");
  const auto transaction = begin();
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 2})")), Succeeded());
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 1})")),
              FailedWith(ErrorCode::kDuplicateKey));
  const auto next = collection()->insert(*transaction, doc(R"({"_id": 3})"));
  ASSERT_THAT(next, FailedWith(kNoSuchTransaction));
  EXPECT_TRUE(has_error_label(next.error(), kTransientTransactionError));
  EXPECT_THAT(transaction->commit(), FailedWith(kNoSuchTransaction));
  EXPECT_THAT(ids("{}"), ElementsAre("1"));
}

TEST_P(StoreContract, Transactions_ThatWriteToOneDocument_ConflictWithoutTurns) {
  GM_NEEDS(transactions);
  if (store().capabilities().one_writer) GTEST_SKIP() << "transactions take turns";
  insert(R"({"_id": 1, "n": 0})");
  const auto first = begin();
  const auto second = begin();
  const bson::Document filter = doc(R"({"_id": 1})");
  const bson::Document increment = doc(R"({"$inc": {"n": 1}})");
  EXPECT_THAT(collection()->update(*first, filter, increment), Succeeded());
  const auto refused = collection()->update(*second, filter, increment);
  ASSERT_THAT(refused, FailedWith(kWriteConflict));
  EXPECT_TRUE(has_error_label(refused.error(), kTransientTransactionError));
  EXPECT_FALSE(has_error_label(refused.error(), kUnknownTransactionCommitResult));
  EXPECT_THAT(first->commit(), Succeeded());
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "n" : 1 })"));
}

// The change does not belong to the transaction: it would wait for the transaction, and the
// transaction for the change.
TEST_P(StoreContract, Ddl_OfWhatTheTransactionHasUsed_IsRefusedWhereItHappensAtOnce) {
  GM_NEEDS(transactions);
  if (store().capabilities().transactional_catalog) {
    GTEST_SKIP() << "it is part of the transaction";
  }
  insert(R"({"_id": 1})");
  insert(R"({"_id": 1})", "other");
  const auto transaction = begin();
  EXPECT_THAT(db()->create(*transaction, "new", bson::View()), Succeeded());
  EXPECT_EQ(*db()->exists(*snapshot(), "new"), true);
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 2})")), Succeeded());
  EXPECT_THAT(db()->drop(*transaction, "c"), FailedWith(kOperationNotSupportedInTransaction));
  EXPECT_THAT(collection()->create_index(*transaction, {"", doc(R"({"a": 1})"), false}),
              FailedWith(kOperationNotSupportedInTransaction));
  EXPECT_THAT(db()->rename(*transaction, "other", {"test", "c"}, true),
              FailedWith(kOperationNotSupportedInTransaction));
  EXPECT_THAT(db()->drop_database(*transaction), FailedWith(kOperationNotSupportedInTransaction));
  // A pipeline of another database writes into the database that the transaction has used.
  for (const char* stage : {R"({"0": {"$out": {"db": "test", "coll": "new"}}})",
                            R"({"0": {"$merge": {"into": {"db": "test", "coll": "new"}}}})"}) {
    EXPECT_THAT(store().database("elsewhere")->collection("c")->aggregate(*transaction, doc(stage)),
                FailedWith(kOperationNotSupportedInTransaction))
        << stage;
  }
  EXPECT_THAT(db()->drop(*transaction, "other"), Succeeded());
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_THAT(ids("{}"), ElementsAre("1", "2"));
}

TEST_P(StoreContract, Transaction_AfterCommit_IsRefused) {
  const auto transaction = begin();
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_THAT(collection()->insert(*transaction, doc("{}")),
              FailedWith(ErrorCode::kIllegalOperation));
  EXPECT_THAT(collection()->count(*transaction, bson::View()),
              FailedWith(ErrorCode::kIllegalOperation));
  EXPECT_THAT(transaction->commit(), FailedWith(ErrorCode::kIllegalOperation));
}

TEST_P(StoreContract, Transaction_Durable_AndMakeDurable) {
  const auto transaction = begin();
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 1})")), Succeeded());
  EXPECT_THAT(transaction->commit(Durability::kDurable), Succeeded());
  insert(R"({"_id": 2})");
  EXPECT_THAT(store().make_durable(), Succeeded());
  reopen();
  EXPECT_THAT(ids("{}"), ElementsAre("1", "2"));
}

TEST_P(StoreContract, Store_Reopened_HasEverything) {
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1, "a": [1, 2]})");
  reopen();
  EXPECT_THAT(ids(R"({"a": 2})"), ElementsAre("1"));
  EXPECT_THAT(try_insert(R"({"_id": 2, "a": 1})"), FailedWith(ErrorCode::kDuplicateKey));
  insert(R"({"_id": 2, "a": 3})");
  EXPECT_THAT(ids("{}"), ElementsAre("1", "2"));
  EXPECT_FALSE(store().read_only());
  const auto stats = store().stats();
  ASSERT_THAT(stats, Succeeded());
  EXPECT_GT(stats->used_bytes, 0);
  EXPECT_GE(stats->file_bytes, stats->used_bytes);
  EXPECT_GT(stats->available_bytes, 0);
}

TEST_P(StoreContract, View_StaysValidWithItsSnapshot) {
  insert(R"({"_id": 1, "a": "before"})");
  const auto view = snapshot();
  const auto found = collection()->find_one(*view, doc(R"({"_id": 1})"));
  ASSERT_THAT(found, Succeeded());
  const bson::View document = **found;
  for (int i = 0; i < 50; ++i) {
    update(R"({"_id": 1})", R"({"$set": {"a": "after )" + std::to_string(i) + R"("}})");
  }
  remove("{}");
  EXPECT_EQ(json(document), R"({ "_id" : 1, "a" : "before" })");
  EXPECT_THAT(find("{}"), IsEmpty());
  GM_NEEDS(stable_snapshots);
  EXPECT_THAT(find_in(*view, "{}"), ElementsAre(R"({ "_id" : 1, "a" : "before" })"));
}

std::vector<std::string> rest_of(Cursor& cursor) {
  std::vector<std::string> rest;
  while (true) {
    const auto next = cursor.next();
    EXPECT_THAT(next, Succeeded());
    if (!next || !*next) return rest;
    rest.push_back(bson::to_json((**next)["_id"], bson::JsonForm::kRelaxed));
  }
}

TEST_P(StoreContract, Cursor_OnATransaction_SurvivesWritesThroughIt) {
  GM_NEEDS(live_cursors);
  create_index(R"({"a": 1})");
  for (int id = 0; id < 10; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": )" + std::to_string(id) + "}");
  }
  const auto transaction = begin();
  const bson::Document by_a = doc(R"({"a": 1})");
  const bson::Document backward = doc(R"({"a": -1})");
  const bson::Document filter = doc(R"({"a": {"$gte": 0}})");
  FindOptions options;
  options.sort = by_a;
  auto scan = collection()->find(*transaction, bson::View(), FindOptions());
  auto along = collection()->find(*transaction, filter, options);
  options.sort = backward;
  auto against = collection()->find(*transaction, filter, options);
  for (Cursor* cursor : {scan->get(), along->get(), against->get()}) {
    ASSERT_THAT(cursor->next(), Succeeded());
    ASSERT_THAT(cursor->next(), Succeeded());
  }
  // Removes documents at the cursors' positions (1 and 8), before and behind them, and many others.
  for (const char* gone : {R"({"_id": 1})", R"({"_id": 3})", R"({"_id": 8})"}) {
    EXPECT_THAT(collection()->remove(*transaction, doc(gone), false), Succeeded());
  }
  for (int id = 100; id < 400; ++id) {
    bson::Builder builder;
    builder.append("_id", int32_t{id}).append("a", int32_t{-id});
    EXPECT_THAT(collection()->insert(*transaction, std::move(builder).finish()), Succeeded());
  }
  EXPECT_THAT(rest_of(**along), ElementsAre("2", "4", "5", "6", "7", "9"));
  EXPECT_THAT(rest_of(**against), ElementsAre("7", "6", "5", "4", "2", "0"));
  const std::vector<std::string> scanned = rest_of(**scan);
  EXPECT_EQ(scanned.size(), 306u);
  EXPECT_EQ(scanned.front(), "2");
  EXPECT_THAT(transaction->commit(), Succeeded());
}

TEST_P(StoreContract, Cursor_SortedInMemoryOnATransaction_SkipsWhatIsGone) {
  GM_NEEDS(live_cursors);
  for (int id = 0; id < 5; ++id) insert(R"({"_id": )" + std::to_string(id) + R"(, "a": 1})");
  const auto transaction = begin();
  const bson::Document sort = doc(R"({"x": 1, "_id": -1})");
  const bson::Document filter = doc(R"({"a": 1})");
  FindOptions options;
  options.sort = sort;
  auto cursor = collection()->find(*transaction, filter, options);
  ASSERT_THAT((*cursor)->next(), Succeeded());
  EXPECT_THAT(collection()->remove(*transaction, doc(R"({"_id": 2})"), false), Succeeded());
  EXPECT_THAT(
      collection()->update(*transaction, doc(R"({"_id": 1})"), doc(R"({"$set": {"a": 2}})")),
      Succeeded());
  EXPECT_THAT(rest_of(**cursor), ElementsAre("3", "0"));
}

TEST_P(StoreContract, Cursor_OverLongKeysOnATransaction_SurvivesRemoval) {
  GM_NEEDS(live_cursors);
  create_index(R"({"name": 1})");
  const std::string common(600, 'n');
  for (int id = 0; id < 6; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "name": ")" + common + std::to_string(id) +
           R"("})");
  }
  const auto transaction = begin();
  const bson::Document sort = doc(R"({"name": 1})");
  FindOptions options;
  options.sort = sort;
  auto cursor = collection()->find(*transaction, bson::View(), options);
  ASSERT_THAT((*cursor)->next(), Succeeded());
  EXPECT_THAT(collection()->remove(*transaction, doc(R"({"_id": {"$in": [1, 3]}})"), true),
              Succeeded());
  EXPECT_THAT(rest_of(**cursor), ElementsAre("2", "4", "5"));
}

TEST_P(StoreContract, Cursor_OutlivingItsTransaction_IsHarmless) {
  insert(R"({"_id": 1})");
  insert(R"({"_id": 2})");
  std::unique_ptr<Cursor> cursor;
  {
    const auto transaction = begin();
    cursor = *collection()->find(*transaction, bson::View());
    ASSERT_THAT(cursor->next(), Succeeded());
    EXPECT_THAT(transaction->commit(), Succeeded());
    EXPECT_THAT(cursor->next(), FailedWith(ErrorCode::kIllegalOperation));
  }
  {
    const auto view = snapshot();
    cursor = *collection()->find(*view, bson::View());
    ASSERT_THAT(cursor->next(), Succeeded());
  }
  EXPECT_THAT(cursor->next(), FailedWith(ErrorCode::kIllegalOperation));
}

TEST_P(StoreContract, Cursors_Several_OnOneSnapshotAreIndependent) {
  for (int id = 0; id < 3; ++id) insert(R"({"_id": )" + std::to_string(id) + "}");
  const auto view = snapshot();
  auto first = collection()->find(*view, bson::View());
  auto second = collection()->find(*view, bson::View());
  ASSERT_THAT((*first)->next(), Succeeded());
  EXPECT_THAT(rest_of(**second), ElementsAre("0", "1", "2"));
  EXPECT_THAT(rest_of(**first), ElementsAre("1", "2"));
  EXPECT_THAT(rest_of(**first), IsEmpty());
}

TEST_P(StoreContract, Concurrency_ReadersSeeWholeTransactionsOnly) {
  GM_NEEDS(stable_snapshots);
  // The writer keeps two documents in different collections equal, and readers verify that.
  insert(R"({"_id": 1, "n": 0})", "a");
  insert(R"({"_id": 1, "n": 0})", "b");
  constexpr int kRounds = 200;
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> backward = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      const bson::Document filter = doc(R"({"_id": 1})");
      int64_t last = 0;
      while (!done) {
        const auto view = store().snapshot();
        const auto a = collection("a")->find_one(**view, filter);
        const auto b = collection("b")->find_one(**view, filter);
        const int64_t n = *(**a)["n"].integral();
        if (n != *(**b)["n"].integral()) ++torn;
        if (n < last) ++backward;
        last = n;
      }
    });
  }
  const bson::Document filter = doc(R"({"_id": 1})");
  const bson::Document increment = doc(R"({"$inc": {"n": 1}})");
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                  GM_TRY(collection("a")->update(transaction, filter, increment));
                  GM_TRY(collection("b")->update(transaction, filter, increment));
                  return {};
                }),
                Succeeded());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backward, 0);
  EXPECT_THAT(find("{}", {}, "a"), ElementsAre(R"({ "_id" : 1, "n" : 200 })"));
}

TEST_P(StoreContract, ShortSnapshot_HasEverythingThatWasCommitted) {
  GM_NEEDS(one_writer);
  insert(R"({"_id": 1, "n": 0})");
  const bson::Document filter = doc(R"({"_id": 1})");
  std::atomic<int64_t> committed = 0;
  std::atomic<bool> done = false;
  std::atomic<int> stale = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      while (!done) {
        const int64_t least = committed;
        const auto view = reader == 0 ? store().snapshot() : store().short_snapshot();
        const auto found = collection()->find_one(**view, filter);
        if (*(**found)["n"].integral() < least) ++stale;
      }
    });
  }
  for (int round = 1; round <= 300; ++round) {
    const TransactionKind kind =
        round % 40 == 0 ? TransactionKind::kMayBlock : TransactionKind::kShort;
    const auto transaction = store().begin(kind);
    ASSERT_THAT(transaction, Succeeded());
    EXPECT_THAT(collection()->update(**transaction, filter, doc(R"({"$inc": {"n": 1}})")),
                Succeeded());
    EXPECT_THAT((*transaction)->commit(), Succeeded());
    committed = round;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(stale, 0);
}

TEST_P(StoreContract, ShortSnapshot_KeepsItsDocuments_AndHasCursors) {
  for (int i = 0; i < 20; ++i) {
    const auto transaction = store().begin(TransactionKind::kShort);
    ASSERT_THAT(transaction, Succeeded());
    bson::Builder document;
    document.append("_id", int32_t{i}).append("even", i % 2 == 0);
    EXPECT_THAT(collection()->insert(**transaction, std::move(document).finish()), Succeeded());
    EXPECT_THAT((*transaction)->commit(), Succeeded());
  }
  const auto snapshot = store().short_snapshot();
  ASSERT_THAT(snapshot, Succeeded());
  const auto first = collection()->find_one(**snapshot, doc(R"({"_id": 0})"));
  ASSERT_THAT(first, Succeeded());
  auto cursor = collection()->find(**snapshot, doc(R"({"even": true})"));
  ASSERT_THAT(cursor, Succeeded());
  int count = 0;
  while (true) {
    const auto next = (*cursor)->next();
    ASSERT_THAT(next, Succeeded());
    if (!*next) break;
    ++count;
  }
  EXPECT_EQ(count, 10);
  EXPECT_EQ(bson::to_json(**first, bson::JsonForm::kRelaxed), R"({ "_id" : 0, "even" : true })");
}

TEST_P(StoreContract, Concurrency_WritersTakeTurns) {
  GM_NEEDS(one_writer);
  insert(R"({"_id": 1, "n": 0})");
  constexpr int kWriters = 4;
  constexpr int kRounds = 50;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int round = 0; round < kRounds; ++round) {
        const auto transaction =
            store().begin(writer % 2 == 0 ? TransactionKind::kShort : TransactionKind::kMayBlock);
        ASSERT_THAT(transaction, Succeeded());
        EXPECT_THAT(
            collection()->update(**transaction, doc(R"({"_id": 1})"), doc(R"({"$inc": {"n": 1}})")),
            Succeeded());
        bson::Builder builder;
        builder.append("writer", int32_t{writer}).append("round", int32_t{round});
        EXPECT_THAT(collection("log")->insert(**transaction, std::move(builder).finish()),
                    Succeeded());
        // Every fifth transaction is aborted, and must leave no trace in those that share its
        // commit.
        if (round % 5 != 4) {
          EXPECT_THAT((*transaction)->commit(), Succeeded());
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  constexpr int kCommitted = kWriters * kRounds * 4 / 5;
  EXPECT_THAT(find("{}"),
              ElementsAre(R"({ "_id" : 1, "n" : )" + std::to_string(kCommitted) + " }"));
  EXPECT_EQ(count("{}", "log"), kCommitted);
  EXPECT_EQ(find("{}", {}, "log").size(), static_cast<size_t>(kCommitted));
  EXPECT_EQ(count(R"({"round": 4})", "log"), 0);
}

}  // namespace
}  // namespace gridmount::engine
