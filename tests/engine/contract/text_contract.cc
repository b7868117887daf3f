// Goal: text indexes hold the terms of documents through all changes, and searches, scores and
// pipelines over them answer as servers do.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kByScore = R"({"score": {"$meta": "textScore"}})";

TEST_P(StoreContract, Text_FindsTermsPhrasesAndNoNegations) {
  create_index(R"({"title": "text", "body": "text"})");
  insert(R"({"_id": 1, "title": "Apple pie", "body": "Baking apples"})");
  insert(R"({"_id": 2, "title": "Cherry pie"})");
  insert(R"({"_id": 3, "body": ["an orchard", "of apple trees"]})");
  insert(R"({"_id": 4, "other": "apple"})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "APPLES"}})"), UnorderedElementsAre("1", "3"));
  EXPECT_THAT(ids(R"({"$text": {"$search": "cherry tree"}})"), UnorderedElementsAre("2", "3"));
  EXPECT_THAT(ids(R"({"$text": {"$search": "pie -cherry"}})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"$text": {"$search": "\"apple trees\""}})"), ElementsAre("3"));
  EXPECT_THAT(ids(R"({"$text": {"$search": "apple"}, "_id": {"$gt": 1}})"), ElementsAre("3"));
  EXPECT_THAT(ids(R"({"$or": [{"$text": {"$search": "cherry"}}, {"_id": 4}]})"),
              UnorderedElementsAre("2", "4"));
  EXPECT_THAT(ids(R"({"$text": {"$search": "the"}})"), IsEmpty());
  EXPECT_EQ(*collection()->count(*snapshot(), doc(R"({"$text": {"$search": "pie"}})"), {}), 2);
}

TEST_P(StoreContract, Text_ScoresSortAndAreShown) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple pie with cream"})");
  insert(R"({"_id": 2, "a": "Apple"})");
  insert(R"({"_id": 3, "a": "apple apple"})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "apple"}})", {.sort = kByScore, .limit = 2}),
              ElementsAre("3", "2"));
  EXPECT_THAT(find(R"({"$text": {"$search": "pie"}})",
                   {.projection = R"({"a": 0, "score": {"$meta": "textScore"}})"}),
              ElementsAre(json(doc(R"({"_id": 1, "score": 0.6666666666666666})"))));
  const bson::Document stages = doc(R"({"0": {"$match": {"$text": {"$search": "apple"}}},
      "1": {"$group": {"_id": {"$gt": [{"$meta": "textScore"}, 1]}, "n": {"$sum": 1}}},
      "2": {"$sort": {"_id": 1}}})");
  const auto view = snapshot();
  const auto cursor = collection()->aggregate(*view, stages, {});
  ASSERT_THAT(cursor, Succeeded());
  std::vector<std::string> found;
  for (auto next = (*cursor)->next(); next && *next; next = (*cursor)->next()) {
    found.push_back(json(**next));
  }
  EXPECT_THAT(found, ElementsAre(json(doc(R"({"_id": false, "n": 2})")),
                                 json(doc(R"({"_id": true, "n": 1})"))));
}

TEST_P(StoreContract, Text_ChangesOfDocuments_AreFound) {
  create_index(R"({"a": "text", "n.a": "text"})");
  insert(R"({"_id": 1, "a": "apple", "n": {"a": "plum"}})");
  update(R"({"_id": 1})", R"({"$set": {"a": "cherry"}})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "apple"}})"), IsEmpty());
  EXPECT_THAT(ids(R"({"$text": {"$search": "cherry"}})"), ElementsAre("1"));
  update(R"({"_id": 1})", R"({"$set": {"n.a": "running"}})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "plum"}})"), IsEmpty());
  EXPECT_THAT(ids(R"({"$text": {"$search": "run"}})"), ElementsAre("1"));
  // In another language, the terms are others.
  update(R"({"_id": 1})", R"({"$set": {"language": "none"}})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "run"}})"), IsEmpty());
  EXPECT_EQ(update(R"({"$text": {"$search": "cherry", "$language": "none"}})",
                   R"({"$set": {"found": true}})")
                .modified,
            1);
  const std::unique_ptr<Transaction> transaction = begin();
  EXPECT_EQ(
      *collection()->remove(
          *transaction, doc(R"({"$text": {"$search": "running", "$language": "none"}})"), true, {}),
      1);
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_THAT(ids(R"({"$text": {"$search": "cherry", "$language": "none"}})"), IsEmpty());
}

TEST_P(StoreContract, Text_IndexOfExistingDocuments_WithFieldsBeforeTheTexts) {
  insert(R"({"_id": 1, "k": 1, "a": "apple"})");
  insert(R"({"_id": 2, "k": 2, "a": "apple"})");
  insert(R"({"_id": 3, "k": 1})");
  create_index(R"({"k": 1, "a": "text"})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "apple"}, "k": 1})"), ElementsAre("1"));
  // The index lacks documents without terms, and is not used without a search.
  EXPECT_THAT(ids(R"({"k": 1})"), UnorderedElementsAre("1", "3"));
  const auto view = snapshot();
  EXPECT_THAT(collection()->count(*view, doc(R"({"$text": {"$search": "apple"}})"), {}),
              FailedWith(ErrorCode(291)));
}

TEST_P(StoreContract, Text_ConditionsOnOneField_MustAllHold) {
  create_index(R"({"a": "text", "n": 1})");
  insert(R"({"_id": 1, "a": "apple pie", "n": 7})");
  insert(R"({"_id": 2, "a": "apple pie", "n": 3})");
  EXPECT_THAT(ids(R"({"$text": {"$search": "apple"}, "n": {"$gt": 1, "$lt": 5}})"),
              ElementsAre("2"));
  EXPECT_THAT(
      ids(R"({"_id": {"$gt": 0}, "$or": [{"$text": {"$search": "pie"}, "n": 7}, {"_id": 2}]})"),
      UnorderedElementsAre("1", "2"));
}

TEST_P(StoreContract, Text_WithAnExpression_InOneMatch) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple", "n": 2})");
  insert(R"({"_id": 2, "a": "pear", "n": 2})");
  insert(R"({"_id": 3, "a": "apple", "n": 0})");
  const bson::Document stages = doc(R"({"0": {"$match": {"$and": [
      {"$text": {"$search": "apple"}}, {"$expr": {"$gt": ["$n", 1]}}]}}, "1": {"$project": {"_id": 1}}})");
  const auto view = snapshot();
  const auto cursor = collection()->aggregate(*view, stages, {});
  ASSERT_THAT(cursor, Succeeded());
  const auto found = (*cursor)->next();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(json(**found), json(doc(R"({"_id": 1})")));
  const auto end = (*cursor)->next();
  EXPECT_TRUE(end && !*end);
}

TEST_P(StoreContract, Text_SecondIndex_IsRefused) {
  create_index(R"({"a": "text"})");
  EXPECT_THAT(try_create_index_as(R"({"key": {"k": 1, "b": "text"}})"),
              FailedWith(ErrorCode::kCannotCreateIndex));
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": "text"}})"), Succeeded());
}

TEST_P(StoreContract, Text_WithoutAnIndex_IsRefused) {
  insert(R"({"_id": 1, "a": "apple"})");
  const auto view = snapshot();
  const bson::Document search = doc(R"({"$text": {"$search": "apple"}})");
  EXPECT_THAT(collection()->count(*view, search, {}), FailedWith(ErrorCode::kIndexNotFound));
}

}  // namespace
}  // namespace gridmount::engine
