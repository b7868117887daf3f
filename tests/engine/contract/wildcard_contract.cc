// Goal: a wildcard index answers like a scan of the collection, through all changes, and is used
// only where it has every document that can match.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

// With this sort, find() and find_one() read in the same order.
constexpr const char* kById = R"({"_id": 1})";

TEST_P(StoreContract, Wildcard_FindsWhatAScanFinds) {
  const char* const documents[] = {R"({"_id": 1, "a": 5, "b": {"c": 1}})",
                                   R"({"_id": 2, "a": [1, 5, [7]], "b": {}})",
                                   R"({"_id": 3, "a": null})",
                                   R"({"_id": 4, "a": []})",
                                   R"({"_id": 5, "a": [{"x": 1}, {"x": 2}]})",
                                   R"({"_id": 6, "a": "str"})",
                                   R"({"_id": 7, "a": {"x": [{"y": 5}]}})",
                                   R"({"_id": 8, "a": {"0": 5}})"};
  const char* const filters[] = {R"({"a": 5})",
                                 R"({"a": {"$gt": 1}})",
                                 R"({"a": null})",
                                 R"({"a": {"$exists": true}})",
                                 R"({"a": {"$exists": false}})",
                                 R"({"a": {"$in": [5, "str"]}})",
                                 R"({"a": {"$in": [5, null]}})",
                                 R"({"a": {"$ne": 5}})",
                                 R"({"a": {"$type": "string"}})",
                                 R"({"a": {"$type": "object"}})",
                                 R"({"a": {"$type": "array"}})",
                                 R"({"a": {"$regex": "^s"}})",
                                 R"({"a": []})",
                                 R"({"a": {}})",
                                 R"({"b": {}})",
                                 R"({"b": {"c": 1}})",
                                 R"({"b.c": 1})",
                                 R"({"a.0": 5})",
                                 R"({"a.x": 1})",
                                 R"({"a.x.y": 5})",
                                 R"({"a": [7]})",
                                 R"({"a": {"$lt": {}}})",
                                 R"({"a": 5, "b.c": 1})",
                                 R"({"a": {"$gt": 1, "$lt": 6}})",
                                 R"({"a": {"$gte": null}})",
                                 R"({"zz": 5})",
                                 R"({"$or": [{"a": 5}, {"b.c": 1}]})",
                                 R"({"a": {"$elemMatch": {"x": 1}}})",
                                 R"({"b": {"$exists": true}})",
                                 R"({"a": {"$not": {"$gt": 1}}})",
                                 R"({"a": {"$gt": {"$minKey": 1}}})"};
  for (const char* const document : documents) insert(document);
  std::vector<std::vector<std::string>> scanned;
  for (const char* const filter : filters) {
    scanned.push_back(ids(filter, {.sort = kById}));
  }
  ASSERT_THAT(try_create_index_as(R"({"key": {"$**": 1}})"), Succeeded());
  for (size_t i = 0; i < std::size(filters); ++i) {
    EXPECT_THAT(ids(filters[i], {.sort = kById}), ElementsAreArray(scanned[i])) << filters[i];
  }
}

TEST_P(StoreContract, Wildcard_ChangesOfDocuments_AreFound) {
  ASSERT_THAT(
      try_create_index_as(R"({"key": {"$**": 1}, "wildcardProjection": {"a": 1, "b.c": 1}})"),
      Succeeded());
  insert(R"({"_id": 1, "a": {"x": 1}, "b": {"c": [1, 2], "d": 3}})");
  EXPECT_THAT(ids(R"({"a.x": 1})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"b.d": 3})"), ElementsAre("1"));
  update(R"({"_id": 1})", R"({"$set": {"a.x": 2, "b.c": 7}})");
  EXPECT_THAT(ids(R"({"a.x": 1})"), testing::IsEmpty());
  EXPECT_THAT(ids(R"({"a.x": 2})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"b.c": 7})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"b.c": {"$exists": true}})"), ElementsAre("1"));
}

TEST_P(StoreContract, Wildcard_WithLeftOutFields_HasNotAllThatExists) {
  ASSERT_THAT(
      try_create_index_as(R"({"key": {"$**": 1}, "wildcardProjection": {"a.b": 0, "c": 0}})"),
      Succeeded());
  insert(R"({"_id": 1, "a": {"b": 1}, "c": 2})");
  insert(R"({"_id": 2, "a": {"d": 1}})");
  const Find by_id{.sort = kById};
  EXPECT_THAT(ids(R"({"a": {"$exists": true}})", by_id), ElementsAre("1", "2"));
  EXPECT_THAT(ids(R"({"a.b": 1})", by_id), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"a.d": {"$exists": true}})", by_id), ElementsAre("2"));
  EXPECT_THAT(ids(R"({"c": {"$gt": 0}})", by_id), ElementsAre("1"));
}

TEST_P(StoreContract, Wildcard_OfAWrongForm_IsRefused) {
  for (const char* const specification :
       {R"({"key": {"$**": -1}})", R"({"key": {"$**": 1, "b": 1}})",
        R"({"key": {"$**": 1}, "unique": true})", R"({"key": {"$**": 1}, "sparse": true})",
        R"({"key": {"$**": 1}, "expireAfterSeconds": 5})", R"({"key": {"a.$**.b": 1}})",
        R"({"key": {".$**": 1}})", R"({"key": {"$a.$**": 1}})"}) {
    EXPECT_THAT(try_create_index_as(specification), FailedWith(ErrorCode::kCannotCreateIndex))
        << specification;
  }
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "wildcardProjection": {"a": 1}})"),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(try_create_index_as(R"({"key": {"a.$**": 1}, "wildcardProjection": {"a": 1}})"),
              FailedWith(ErrorCode::kFailedToParse));
  EXPECT_THAT(try_create_index_as(R"({"key": {"$**": 1}, "wildcardProjection": {"a": 1, "b": 0}})"),
              FailedWith(ErrorCode(31254)));
}

}  // namespace
}  // namespace gridmount::engine
