// Goal: text indexes hold the terms of documents through all changes, and searches, scores and
// pipelines over them answer as servers do.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kByScore = R"({"score": {"$meta": "textScore"}})";

// Returns the results of a pipeline as JSON.
std::vector<std::string> results(Collection& collection, Snapshot& snapshot, bson::View stages) {
  const auto cursor = collection.aggregate(snapshot, stages, {});
  EXPECT_THAT(cursor, Succeeded());
  std::vector<std::string> found;
  if (!cursor) return found;
  auto next = (*cursor)->next();
  for (; next && *next; next = (*cursor)->next()) found.push_back(json(**next));
  EXPECT_THAT(next, Succeeded());
  return found;
}

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

// A query by _id finds one document and sorts nothing, but its sort is checked all the same.
TEST_P(StoreContract, Text_ScoreWithoutASearch_IsRefused) {
  insert(R"({"_id": 1, "a": "apple"})");
  const bson::Document by_score = doc(kByScore);
  FindOptions options;
  options.sort = by_score;
  for (const char* const filter : {"{}", R"({"_id": 1})"}) {
    const Status found = [&]() -> Status {
      GM_ASSIGN(const auto cursor, collection()->find(*snapshot(), doc(filter), options));
      const auto document = cursor->next();
      return document ? Status() : fail(document.error());
    }();
    ASSERT_FALSE(found) << filter;
    EXPECT_EQ(found.error().code(), ErrorCode{40218}) << filter;
  }
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
  EXPECT_THAT(
      results(*collection(), *snapshot(), stages),
      ElementsAre(json(doc(R"({"_id": false, "n": 2})")), json(doc(R"({"_id": true, "n": 1})"))));
}

// A pipeline that searches for apple, runs the stages, and shows the score and `w`.
bson::Document after_search(const std::string& stages) {
  const bson::Document holder =
      doc(R"({"p": [{"$match": {"$text": {"$search": "apple"}}}, )" + stages +
          R"(, {"$project": {"score": {"$meta": "textScore"}, "w": 1}}]})");
  return bson::Document(holder.view()["p"].as_document());
}

// The documents of a JSON array, in any order.
auto are_documents(const std::string& array) {
  const bson::Document holder = doc(R"({"r": )" + array + "}");
  std::vector<std::string> documents;
  for (const bson::Element element : holder.view()["r"].as_document()) {
    documents.push_back(json(element.value.as_document()));
  }
  return testing::UnorderedElementsAreArray(documents);
}

TEST_P(StoreContract, Text_ScoresStayThroughStagesThatKeepDocuments) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple"})");
  insert(R"({"_id": 3, "a": "apple apple"})");
  insert(R"({"_id": 5, "a": "pie"})");
  const auto run = [&](const std::string& stages) {
    return results(*collection(), *snapshot(), after_search(stages));
  };
  const std::string scored = R"([{"_id": 1, "score": 1.0}, {"_id": 3, "score": 1.5}])";
  EXPECT_THAT(run(R"({"$sample": {"size": 9}})"), are_documents(scored));
  EXPECT_THAT(run(R"({"$sort": {"_id": -1}}, {"$sample": {"size": 2}})"), are_documents(scored));
  EXPECT_THAT(run(
                  R"({"$graphLookup": {"from": "c", "startWith": {"$meta": "textScore"},
                      "connectFromField": "x", "connectToField": "_id", "as": "w"}})"),
              are_documents(R"([{"_id": 1, "w": [{"_id": 1, "a": "apple"}], "score": 1.0},
                                {"_id": 3, "w": [], "score": 1.5}])"));
  EXPECT_THAT(run(R"({"$densify": {"field": "_id", "range": {"step": 1, "bounds": [0, 3]}}})"),
              are_documents(R"([{"_id": 0}, {"_id": 1, "score": 1.0}, {"_id": 2},
                                {"_id": 3, "score": 1.5}])"));
}

TEST_P(StoreContract, Text_ScoresOfBothSidesOfAUnion_Stay) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple"})");
  insert(R"({"_id": 3, "a": "pie pie"})");
  const auto run = [&](const std::string& stages) {
    return results(*collection(), *snapshot(), after_search(stages));
  };
  EXPECT_THAT(run(R"({"$unionWith": {"coll": "c", "pipeline": [
                  {"$match": {"$text": {"$search": "pie"}}}]}})"),
              are_documents(R"([{"_id": 1, "score": 1.0}, {"_id": 3, "score": 1.5}])"));
  EXPECT_THAT(run(R"({"$unionWith": "c"}, {"$sort": {"_id": 1}})"),
              are_documents(R"([{"_id": 1, "score": 1.0}, {"_id": 1}, {"_id": 3}])"));
}

TEST_P(StoreContract, Text_ScoresInWindows_AreThoseOfTheirDocuments) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple"})");
  insert(R"({"_id": 3, "a": "apple apple"})");
  const auto window = [&](const std::string& options) {
    const std::string stage = R"({"$setWindowFields": {"sortBy": {"_id": 1}, )" + options + "}}";
    return results(*collection(), *snapshot(), after_search(stage));
  };
  EXPECT_THAT(
      window(R"("output": {"w": {"$sum": "$_id"}})"),
      are_documents(R"([{"_id": 1, "w": 4, "score": 1.0}, {"_id": 3, "w": 4, "score": 1.5}])"));
  EXPECT_THAT(window(R"("output": {"w": {"$push": {"$meta": "textScore"}}})"),
              are_documents(R"([{"_id": 1, "w": [1.0, 1.5], "score": 1.0},
                                {"_id": 3, "w": [1.0, 1.5], "score": 1.5}])"));
  EXPECT_THAT(window(R"("output": {"w": {"$shift": {"output": {"$meta": "textScore"}, "by": 1}}})"),
              are_documents(R"([{"_id": 1, "w": 1.5, "score": 1.0},
                                {"_id": 3, "w": null, "score": 1.5}])"));
  EXPECT_THAT(
      window(R"("partitionBy": {"$meta": "textScore"}, "output": {"w": {"$sum": "$_id"}})"),
      are_documents(R"([{"_id": 1, "w": 1, "score": 1.0}, {"_id": 3, "w": 3, "score": 1.5}])"));
}

TEST_P(StoreContract, Text_ScoresInBuckets_AreThoseOfTheirDocuments) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple"})");
  insert(R"({"_id": 3, "a": "apple apple"})");
  insert(R"({"_id": 4, "a": "apple pie"})");
  const auto run = [&](const std::string& stage) {
    const bson::Document holder =
        doc(R"({"p": [{"$match": {"$text": {"$search": "apple"}}}, )" + stage + "]}");
    return results(*collection(), *snapshot(), holder.view()["p"].as_document());
  };
  EXPECT_THAT(run(R"({"$bucketAuto": {"groupBy": "$_id", "buckets": 2,
                      "output": {"s": {"$push": {"$meta": "textScore"}}}}})"),
              are_documents(R"([{"_id": {"min": 1, "max": 4}, "s": [1.0, 1.5]},
                                {"_id": {"min": 4, "max": 4}, "s": [0.75]}])"));
}

TEST_P(StoreContract, Text_ScoresOfMergedDocuments_AreWritten) {
  create_index(R"({"a": "text"})");
  insert(R"({"_id": 1, "a": "apple"})");
  insert(R"({"_id": 3, "a": "apple apple"})");
  const bson::Document stages = doc(R"({"0": {"$match": {"$text": {"$search": "apple"}}},
      "1": {"$set": {"s": {"$meta": "textScore"}}}, "2": {"$merge": "c"}})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                results(*collection(), transaction, stages);
                return {};
              }),
              Succeeded());
  EXPECT_THAT(find("{}"), are_documents(R"([{"_id": 1, "a": "apple", "s": 1.0},
                                            {"_id": 3, "a": "apple apple", "s": 1.5}])"));
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
  // In another language, the text has other terms.
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
  // The index lacks documents without terms, so only a search uses it.
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
