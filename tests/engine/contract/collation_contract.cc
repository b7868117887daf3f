// Goal: commands compare strings by their collation, in every part, and indexes do not mislead
// them.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr const char* kEnglish = R"({"locale": "en"})";
constexpr const char* kIgnoringCase = R"({"locale": "en", "strength": 2})";

TEST_P(StoreContract, Collation_FindWithAndWithoutIndexIsTheSame) {
  insert(R"({"_id": 1, "a": "x"})");
  insert(R"({"_id": 2, "a": "X"})");
  insert(R"({"_id": 3, "a": "y"})");
  insert(R"({"_id": 4, "a": 5})");
  insert(R"({"_id": 5, "a": {"b": "X"}})");
  for (const bool indexed : {false, true}) {
    if (indexed) create_index(R"({"a": 1})");
    const Find find{.collation = kIgnoringCase};
    EXPECT_THAT(ids(R"({"a": "X"})", find), UnorderedElementsAre("1", "2"));
    EXPECT_THAT(ids(R"({"a": {"$in": ["X", 5]}})", find), UnorderedElementsAre("1", "2", "4"));
    EXPECT_THAT(ids(R"({"a": {"$gt": "X"}})", find), UnorderedElementsAre("3"));
    EXPECT_THAT(ids(R"({"a": {"b": "x"}})", find), UnorderedElementsAre("5"));
    EXPECT_THAT(ids(R"({"a": 5})", find), ElementsAre("4"));
    EXPECT_THAT(ids(R"({"$or": [{"a": "X"}, {"a": 5}]})", find),
                UnorderedElementsAre("1", "2", "4"));
    EXPECT_THAT(ids(R"({"$expr": {"$eq": ["$a", "X"]}})", find), UnorderedElementsAre("1", "2"));
    EXPECT_THAT(ids(R"({"a": {"$type": "string"}})",
                    {.sort = R"({"a": 1, "_id": -1})", .collation = kIgnoringCase}),
                ElementsAre("2", "1", "3"));
    EXPECT_THAT(
        ids(R"({"a": {"$type": "string"}})", {.sort = R"({"a": -1})", .collation = kEnglish}),
        ElementsAre("3", "2", "1"));
    EXPECT_THAT(ids(R"({"a": "X"})"), ElementsAre("2"));
    EXPECT_THAT(ids(R"({"a": "X"})", {.collation = R"({"locale": "simple"})"}), ElementsAre("2"));
  }
}

TEST_P(StoreContract, Collation_ByIdFindsAllThatAreTheSame) {
  insert(R"({"_id": "k"})");
  insert(R"({"_id": "K"})");
  EXPECT_THAT(ids(R"({"_id": "k"})", {.collation = kIgnoringCase}),
              UnorderedElementsAre("\"k\"", "\"K\""));
  const bson::Document collation = doc(kIgnoringCase);
  EXPECT_EQ(*collection()->count(*snapshot(), doc(R"({"_id": "k"})"), {.collation = collation}), 2);
  const std::unique_ptr<Transaction> transaction = begin();
  EXPECT_EQ(
      *collection()->remove(*transaction, doc(R"({"_id": "K"})"), true, {.collation = collation}),
      2);
}

TEST_P(StoreContract, Collation_OfWrites) {
  insert(R"({"_id": 1, "a": "x", "list": ["b", "C"]})");
  const bson::Document collation = doc(kIgnoringCase);
  const UpdateOptions options{.collation = collation};
  EXPECT_EQ(update(R"({"a": "X"})", R"({"$addToSet": {"list": "B"}})", options).modified, 0);
  EXPECT_EQ(update(R"({"a": "X"})", R"({"$pull": {"list": "c"}})", options).modified, 1);
  EXPECT_EQ(update(R"({"list": "B"})", R"({"$set": {"list.$": "z"}})", options).modified, 1);
  EXPECT_THAT(find("{}"), ElementsAre(json(doc(R"({"_id": 1, "a": "x", "list": ["z"]})"))));
  EXPECT_EQ(
      update(R"({"a": "X"})", R"({"$set": {"b": 1}})", {.upsert = true, .collation = collation})
          .matched,
      1);
  const std::unique_ptr<Transaction> transaction = begin();
  FindAndModifyOptions changes;
  changes.return_new = true;
  changes.collation = collation;
  const auto changed = collection()->find_and_modify(*transaction, doc(R"({"a": "X"})"),
                                                     doc(R"({"$min": {"a": "X"}})"), changes);
  ASSERT_THAT(changed, Succeeded());
  EXPECT_EQ(json(*changed->document), json(doc(R"({"_id": 1, "a": "x", "list": ["z"], "b": 1})")));
}

TEST_P(StoreContract, Collation_OfDistinctAndAggregations) {
  insert(R"({"_id": 1, "a": "x"})");
  insert(R"({"_id": 2, "a": "X"})");
  insert(R"({"_id": 3, "a": "b"})");
  create_index(R"({"a": 1})");
  const bson::Document collation = doc(kIgnoringCase);
  const auto view = snapshot();
  const auto values = collection()->distinct(*view, "a", bson::View(), {.collation = collation});
  ASSERT_THAT(values, Succeeded());
  EXPECT_EQ(values->size(), 2U);
  const bson::Document stages = doc(R"({"0": {"$match": {"a": {"$gte": "B"}}},
      "1": {"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "same"}},
      "2": {"$group": {"_id": "$a", "n": {"$sum": {"$size": "$same"}}}},
      "3": {"$sort": {"_id": 1}}, "4": {"$project": {"_id": {"$toLower": "$_id"}, "n": 1}}})");
  const auto cursor = collection()->aggregate(*view, stages, {.collation = collation});
  ASSERT_THAT(cursor, Succeeded());
  std::vector<std::string> found;
  while (true) {
    const auto next = (*cursor)->next();
    ASSERT_THAT(next, Succeeded());
    if (!*next) break;
    found.push_back(json(**next));
  }
  EXPECT_THAT(found, ElementsAre(json(doc(R"({"n": 1, "_id": "b"})")),
                                 json(doc(R"({"n": 4, "_id": "x"})"))));
}

TEST_P(StoreContract, Collation_Unknown_IsRefused) {
  insert(R"({"_id": 1})");
  const bson::Document collation = doc(R"({"locale": "xx"})");
  EXPECT_THAT(collection()->find(*snapshot(), doc("{}"), {.collation = collation}),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(collection("missing")->count(*snapshot(), doc("{}"), {.collation = collation}),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(try_update("{}", R"({"$set": {"a": 1}})", {.collation = collation}),
              FailedWith(ErrorCode::kBadValue));
}

}  // namespace
}  // namespace gridmount::engine
