// Goal: update(), remove() and find_and_modify() change the right documents and report it.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

UpdateOptions upsert() {
  UpdateOptions options;
  options.upsert = true;
  return options;
}

UpdateOptions multi() {
  UpdateOptions options;
  options.multi = true;
  return options;
}

TEST_P(StoreContract, Update_Operators_ChangeTheFirstMatch) {
  insert(R"({"_id": 1, "a": 1})");
  insert(R"({"_id": 2, "a": 1})");
  const UpdateResult result = update(R"({"a": 1})", R"({"$set": {"b": 2}, "$inc": {"a": 4}})");
  EXPECT_EQ(result.matched, 1);
  EXPECT_EQ(result.modified, 1);
  EXPECT_FALSE(result.upserted_id.has_value());
  EXPECT_THAT(find("{}"),
              ElementsAre(R"({ "_id" : 1, "a" : 5, "b" : 2 })", R"({ "_id" : 2, "a" : 1 })"));
}

TEST_P(StoreContract, Update_Multi_ChangesAll) {
  for (int id = 0; id < 5; ++id) insert(R"({"_id": )" + std::to_string(id) + R"(, "a": 1})");
  const UpdateResult result = update(R"({"_id": {"$gte": 2}})", R"({"$set": {"a": 2}})", multi());
  EXPECT_EQ(result.matched, 3);
  EXPECT_EQ(result.modified, 3);
  EXPECT_EQ(count(R"({"a": 2})"), 3);
}

TEST_P(StoreContract, Update_MultiAlongTheChangedIndex_ChangesEachOnce) {
  create_index(R"({"a": 1})");
  for (int id = 0; id < 50; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": )" + std::to_string(id) + "}");
  }
  EXPECT_EQ(update(R"({"a": {"$gte": 0}})", R"({"$inc": {"a": 1000}})", multi()).modified, 50);
  EXPECT_EQ(count(R"({"a": {"$gte": 1000, "$lt": 1050}})"), 50);
}

TEST_P(StoreContract, Update_WithoutEffect_MatchesButDoesNotModify) {
  insert(R"({"_id": 1, "a": 1})");
  const UpdateResult result = update(R"({"_id": 1})", R"({"$set": {"a": 1}})");
  EXPECT_EQ(result.matched, 1);
  EXPECT_EQ(result.modified, 0);
}

TEST_P(StoreContract, Update_NoMatch_DoesNothing) {
  insert(R"({"_id": 1})");
  const UpdateResult result = update(R"({"_id": 9})", R"({"$set": {"a": 1}})");
  EXPECT_EQ(result.matched, 0);
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Update_Replacement_KeepsTheId) {
  insert(R"({"_id": 1, "a": 1, "b": 2})");
  const UpdateResult result = update(R"({"a": 1})", R"({"c": 3})");
  EXPECT_EQ(result.modified, 1);
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "c" : 3 })"));
}

TEST_P(StoreContract, Update_ReplacementWithMulti_IsRefused) {
  insert(R"({"_id": 1})");
  EXPECT_THAT(try_update("{}", R"({"a": 1})", multi()), FailedWith(ErrorCode::kFailedToParse));
}

TEST_P(StoreContract, Update_ChangingTheId_IsImmutableField) {
  insert(R"({"_id": 1})");
  EXPECT_THAT(try_update(R"({"_id": 1})", R"({"$set": {"_id": 2}})"),
              FailedWith(ErrorCode::kImmutableField));
  EXPECT_THAT(try_update(R"({"_id": 1})", R"({"_id": 2})"), FailedWith(ErrorCode::kImmutableField));
  EXPECT_THAT(ids("{}"), ElementsAre("1"));
}

TEST_P(StoreContract, Update_Upsert_InsertsConditionsAndUpdate) {
  const UpdateResult result = update(R"({"_id": 7, "k": "v"})", R"({"$set": {"a": 1}})", upsert());
  EXPECT_EQ(result.matched, 0);
  ASSERT_TRUE(result.upserted_id.has_value());
  EXPECT_EQ(*result.upserted_id, bson::Value(int32_t{7}));
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 7, "k" : "v", "a" : 1 })"));
  EXPECT_FALSE(
      update(R"({"_id": 7, "k": "v"})", R"({"$set": {"a": 2}})", upsert()).upserted_id.has_value());
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Update_UpsertWithoutId_GeneratesOne) {
  const UpdateResult result = update(R"({"k": 1})", R"({"b": 2})", upsert());
  ASSERT_TRUE(result.upserted_id.has_value());
  EXPECT_EQ(result.upserted_id->type(), bson::Type::kObjectId);
  EXPECT_EQ(count(R"({"b": 2})"), 1);
}

TEST_P(StoreContract, Update_MovesIndexEntries) {
  create_index(R"({"a": 1, "b": -1})");
  insert(R"({"_id": 1, "a": 1, "b": 1})");
  insert(R"({"_id": 2, "a": 1, "b": 2})");
  update(R"({"_id": 1})", R"({"$set": {"b": 3}})");
  EXPECT_THAT(ids(R"({"a": 1})", {.sort = R"({"a": 1, "b": -1})"}), ElementsAre("1", "2"));
  EXPECT_THAT(ids(R"({"a": 1, "b": 1})"), IsEmpty());
  update(R"({"_id": 1})", R"({"$unset": {"a": ""}})");
  EXPECT_THAT(ids(R"({"a": 1})"), ElementsAre("2"));
  EXPECT_THAT(ids(R"({"a": null})"), ElementsAre("1"));
}

TEST_P(StoreContract, Update_OfAnAncestorPath_MovesIndexEntries) {
  create_index(R"({"metadata.posix.mode": 1})");
  insert(R"({"_id": 1, "metadata": {"posix": {"mode": 1}}})");
  update(R"({"_id": 1})", R"({"$set": {"metadata": {"posix": {"mode": 2}}}})");
  EXPECT_THAT(ids(R"({"metadata.posix.mode": 2})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"metadata.posix.mode": 1})"), IsEmpty());
  update(R"({"_id": 1})", R"({"$set": {"metadata.posix.mode": 3}})");
  EXPECT_THAT(ids(R"({"metadata.posix.mode": 3})"), ElementsAre("1"));
  update(R"({"_id": 1})", R"({"$unset": {"metadata.posix": ""}})");
  EXPECT_THAT(ids(R"({"metadata.posix.mode": 3})"), IsEmpty());
}

TEST_P(StoreContract, Update_OfAnArrayPosition_MovesIndexEntries) {
  create_index(R"({"a.b": 1})");
  insert(R"({"_id": 1, "a": [{"b": 1}, {"b": 2}]})");
  update(R"({"_id": 1})", R"({"$set": {"a.1.b": 5}})");
  EXPECT_THAT(ids(R"({"a.b": 5})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"a.b": 2})"), IsEmpty());
}

TEST_P(StoreContract, Update_ToADuplicate_FailsAndLeavesTheTransaction) {
  GM_NEEDS(continues_after_failed_writes);
  create_index(R"({"a": 1})", true);
  create_index(R"({"b": 1})");
  insert(R"({"_id": 1, "a": 1, "b": 1})");
  insert(R"({"_id": 2, "a": 2, "b": 2})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 3, "a": 3})")));
                EXPECT_THAT(collection()->update(transaction, doc(R"({"_id": 2})"),
                                                 doc(R"({"$set": {"a": 1, "b": 9}})")),
                            FailedWith(ErrorCode::kDuplicateKey));
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 4, "a": 4})")));
                return {};
              }),
              Succeeded());
  EXPECT_THAT(ids(R"({"b": 9})"), IsEmpty());
  EXPECT_THAT(ids(R"({"b": 2})"), ElementsAre("2"));
  EXPECT_THAT(ids(R"({"a": {"$gte": 1}})"), ElementsAre("1", "2", "3", "4"));
}

TEST_P(StoreContract, Update_MultiFailingOnOne_KeepsTheEarlierOnes) {
  GM_NEEDS(continues_after_failed_writes);
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1, "a": 1})");
  insert(R"({"_id": 2, "a": 2})");
  const auto transaction = begin();
  EXPECT_THAT(
      collection()->update(*transaction, bson::View(), doc(R"({"$set": {"a": 7}})"), multi()),
      FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(find_in(*transaction, R"({"_id": 1})"), ElementsAre(R"({ "_id" : 1, "a" : 7 })"));
  EXPECT_THAT(find_in(*transaction, R"({"_id": 2})"), ElementsAre(R"({ "_id" : 2, "a" : 2 })"));
  EXPECT_THAT(transaction->commit(), Succeeded());
}

TEST_P(StoreContract, Update_BadSpecification_IsAnError) {
  insert(R"({"_id": 1, "a": "text"})");
  EXPECT_THAT(try_update("{}", R"({"$nosuch": {"a": 1}})"), FailedWith(ErrorCode::kFailedToParse));
  EXPECT_THAT(try_update("{}", R"({"$inc": {"a": 1}})"), FailedWith(ErrorCode::kTypeMismatch));
  EXPECT_THAT(try_update(R"({"a": {"$nosuch": 1}})", R"({"$set": {"b": 1}})"),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "a" : "text" })"));
}

TEST_P(StoreContract, Update_Hint_IsChecked) {
  insert(R"({"_id": 1})");
  UpdateOptions options;
  options.hint = bson::Value("nosuch");
  EXPECT_THAT(try_update(R"({"_id": 1})", R"({"$set": {"a": 1}})", options),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, Update_GrowingAndShrinking_KeepsInsertionOrder) {
  for (int id = 0; id < 5; ++id) insert(R"({"_id": )" + std::to_string(id) + "}");
  const std::string large(100000, 'x');
  update(R"({"_id": 2})", R"({"$set": {"a": ")" + large + R"("}})");
  EXPECT_THAT(ids("{}"), ElementsAre("0", "1", "2", "3", "4"));
  update(R"({"_id": 2})", R"({"$set": {"a": "small"}})");
  EXPECT_THAT(find(R"({"_id": 2})"), ElementsAre(R"({ "_id" : 2, "a" : "small" })"));
  EXPECT_THAT(ids("{}"), ElementsAre("0", "1", "2", "3", "4"));
}

TEST_P(StoreContract, Remove_OneOrAll) {
  create_index(R"({"a": 1})");
  for (int id = 0; id < 4; ++id) insert(R"({"_id": )" + std::to_string(id) + R"(, "a": 1})");
  EXPECT_EQ(remove(R"({"a": 1})", false), 1);
  EXPECT_EQ(count(R"({"a": 1})"), 3);
  EXPECT_EQ(remove(R"({"a": 1})"), 3);
  EXPECT_EQ(count("{}"), 0);
  EXPECT_EQ(remove(R"({"a": 1})"), 0);
  insert(R"({"_id": 0, "a": 1})");
  EXPECT_THAT(ids(R"({"a": 1})"), ElementsAre("0"));
}

TEST_P(StoreContract, Remove_ById_TakesTheShortWay) {
  insert(R"({"_id": 1})");
  insert(R"({"_id": 2})");
  EXPECT_EQ(remove(R"({"_id": 1})"), 1);
  EXPECT_THAT(ids("{}"), ElementsAre("2"));
}

TEST_P(StoreContract, FindAndModify_Update_ReturnsBeforeOrAfter) {
  insert(R"({"_id": 1, "n": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                FindAndModifyOptions options;
                GM_ASSIGN(FindAndModifyResult result,
                          collection()->find_and_modify(transaction, doc(R"({"_id": 1})"),
                                                        doc(R"({"$inc": {"n": 1}})"), options));
                EXPECT_TRUE(result.updated_existing);
                EXPECT_EQ(json(*result.document), R"({ "_id" : 1, "n" : 1 })");
                options.return_new = true;
                GM_ASSIGN(result,
                          collection()->find_and_modify(transaction, doc(R"({"_id": 1})"),
                                                        doc(R"({"$inc": {"n": 1}})"), options));
                EXPECT_EQ(json(*result.document), R"({ "_id" : 1, "n" : 3 })");
                return {};
              }),
              Succeeded());
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "n" : 3 })"));
}

TEST_P(StoreContract, FindAndModify_SortAndProjection_PickAndCut) {
  insert(R"({"_id": 1, "n": 1, "x": 0})");
  insert(R"({"_id": 2, "n": 2, "x": 0})");
  const bson::Document sort = doc(R"({"n": -1})");
  const bson::Document projection = doc(R"({"n": 1, "_id": 0})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                FindAndModifyOptions options;
                options.sort = sort;
                options.projection = projection;
                GM_ASSIGN(const FindAndModifyResult result,
                          collection()->find_and_modify(transaction, bson::View(),
                                                        doc(R"({"$set": {"x": 9}})"), options));
                EXPECT_EQ(json(*result.document), R"({ "n" : 2 })");
                return {};
              }),
              Succeeded());
  EXPECT_THAT(ids(R"({"x": 9})"), ElementsAre("2"));
}

TEST_P(StoreContract, FindAndModify_PositionalProjection_GivesTheMatchedElement) {
  insert(R"({"_id": 1, "a": [1, 2, 3]})");
  const bson::Document projection = doc(R"({"a.$": 1})");
  const auto modify = [&](bool return_new) {
    return commit([&](Transaction& transaction) -> Status {
      FindAndModifyOptions options;
      options.projection = projection;
      options.return_new = return_new;
      GM_ASSIGN(const FindAndModifyResult result,
                collection()->find_and_modify(transaction, doc(R"({"a": 2})"),
                                              doc(R"({"$inc": {"a.$": 10}})"), options));
      EXPECT_EQ(json(*result.document), R"({ "_id" : 1, "a" : [ 2 ] })");
      return {};
    });
  };
  EXPECT_THAT(modify(true), FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(modify(false), Succeeded());
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "a" : [ 1, 12, 3 ] })"));
  EXPECT_THAT(find(R"({"a": {"$gt": 5}})", {.projection = R"({"a.$": 1, "_id": 0})"}),
              ElementsAre(R"({ "a" : [ 12 ] })"));
}

TEST_P(StoreContract, Update_Positional_ChangesTheElementsAndTheirIndexEntries) {
  create_index(R"({"a.b": 1})");
  insert(R"({"_id": 1, "a": [{"b": 1}, {"b": 2}]})");
  insert(R"({"_id": 2, "a": [{"b": 2}, {"b": 3}]})");
  UpdateOptions options;
  options.multi = true;
  EXPECT_EQ(update(R"({"a.b": 2})", R"({"$set": {"a.$.b": 7}})", options).modified, 2);
  EXPECT_THAT(ids(R"({"a.b": 7})", {.hint = bson::Value("a.b_1")}), ElementsAre("1", "2"));
  const bson::Document filters = doc(R"({"f": [{"i.b": {"$lt": 7}}]})");
  options.array_filters = filters.view()["f"].as_document();
  EXPECT_EQ(update("{}", R"({"$inc": {"a.$[i].b": 100}})", options).modified, 2);
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "a" : [ { "b" : 101 }, { "b" : 7 } ] })",
                                      R"({ "_id" : 2, "a" : [ { "b" : 7 }, { "b" : 103 } ] })"));
  EXPECT_THAT(ids(R"({"a.b": 103})", {.hint = bson::Value("a.b_1")}), ElementsAre("2"));
  EXPECT_EQ(count(R"({"a.b": 3})"), 0);
}

TEST_P(StoreContract, FindAndModify_Remove_ReturnsTheDocument) {
  insert(R"({"_id": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                FindAndModifyOptions options;
                options.remove = true;
                GM_ASSIGN(FindAndModifyResult result,
                          collection()->find_and_modify(transaction, doc(R"({"_id": 1})"),
                                                        bson::View(), options));
                EXPECT_EQ(json(*result.document), R"({ "_id" : 1 })");
                EXPECT_FALSE(result.updated_existing);
                GM_ASSIGN(result, collection()->find_and_modify(transaction, doc(R"({"_id": 1})"),
                                                                bson::View(), options));
                EXPECT_FALSE(result.document.has_value());
                return {};
              }),
              Succeeded());
  EXPECT_EQ(count("{}"), 0);
}

TEST_P(StoreContract, FindAndModify_Upsert_InsertsAndReturnsNewIfAsked) {
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                FindAndModifyOptions options;
                options.upsert = true;
                GM_ASSIGN(FindAndModifyResult result,
                          collection()->find_and_modify(transaction, doc(R"({"_id": 1})"),
                                                        doc(R"({"$set": {"a": 1}})"), options));
                EXPECT_FALSE(result.document.has_value());
                EXPECT_FALSE(result.updated_existing);
                EXPECT_EQ(*result.upserted_id, bson::Value(int32_t{1}));
                options.return_new = true;
                GM_ASSIGN(result,
                          collection()->find_and_modify(transaction, doc(R"({"_id": 2})"),
                                                        doc(R"({"$set": {"a": 2}})"), options));
                EXPECT_EQ(json(*result.document), R"({ "_id" : 2, "a" : 2 })");
                return {};
              }),
              Succeeded());
  EXPECT_EQ(count("{}"), 2);
}

TEST_P(StoreContract, FindAndModify_ContradictoryOptions_AreRefused) {
  const auto refused = [&](const char* update, bool upsert_too, bool return_new) {
    FindAndModifyOptions options;
    options.remove = true;
    options.upsert = upsert_too;
    options.return_new = return_new;
    return collection()->find_and_modify(*begin(), bson::View(), doc(update), options);
  };
  EXPECT_THAT(refused(R"({"$set": {"a": 1}})", false, false),
              FailedWith(ErrorCode::kFailedToParse));
  EXPECT_THAT(refused("{}", true, false), FailedWith(ErrorCode::kFailedToParse));
  EXPECT_THAT(refused("{}", false, true), FailedWith(ErrorCode::kFailedToParse));
}

}  // namespace
}  // namespace gridmount::engine
