// Goal: sparse, partial, hashed, hidden and TTL indexes have the same entries as MongoDB's, and a
// query finds the same documents with and without them.
// Source: MongoDB manual, "Index Properties", "Index Types".
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr ErrorCode kArrayUnderHashedIndex{16766};
constexpr ErrorCode kUniqueHashedIndex{16764};

TEST_P(StoreContract, Sparse_OverArrays_MissesNoElementWithoutTheField) {
  create_index(R"({"c.e": 1})");
  insert(R"({"_id": 1, "c": [{"e": 2}, {"d": 1}]})");
  const std::string filter = R"({"c.e": {"$gte": null, "$lt": 2.5}})";
  EXPECT_EQ(count(filter), 1);
  ASSERT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->drop_index(transaction, "c.e_1"));
                IndexDefinition definition;
                definition.keys = doc(R"({"c.e": 1})");
                definition.sparse = true;
                return collection()->create_index(transaction, definition);
              }),
              Succeeded());
  EXPECT_EQ(count(filter), 1);
  EXPECT_EQ(count(R"({"c.e": null})"), 1);
  EXPECT_EQ(count(R"({"c.e": {"$in": [null, 7], "$gte": 1}})"), 1);
}

TEST_P(StoreContract, IndexProperties_Specifications_ComeBack) {
  create_index_as(
      R"({"key": {"a": 1.0}, "name": "a", "sparse": true, "background": true, "v": 1})");
  create_index_as(
      R"({"key": {"b": -1, "c": 1}, "unique": true, "partialFilterExpression": {"b": {"$gt": 5}}})");
  create_index_as(R"({"key": {"at": 1}, "name": "ttl", "expireAfterSeconds": 3600})");
  create_index_as(R"({"key": {"h": "hashed"}, "hidden": true})");
  reopen();
  EXPECT_THAT(
      index_specifications(),
      ElementsAre(
          json(doc(R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})")),
          json(doc(
              R"({"v": 2, "key": {"a": 1.0}, "name": "a", "background": true, "sparse": true})")),
          json(doc(R"({"v": 2, "key": {"b": -1, "c": 1}, "name": "b_-1_c_1", "unique": true,
                       "partialFilterExpression": {"b": {"$gt": 5}}})")),
          json(doc(R"({"v": 2, "key": {"at": 1}, "name": "ttl", "expireAfterSeconds": 3600})")),
          json(doc(R"({"v": 2, "key": {"h": "hashed"}, "name": "h_hashed", "hidden": true})"))));
}

// Servers store options of other kinds of indexes with any index, and show them in this order.
TEST_P(StoreContract, IndexProperties_OptionsOfOtherKinds_AreKept) {
  create_index_as(
      R"({"key": {"a": 1}, "name": "a", "max": 1, "bits": 26.9, "min": -3, "sparse": true})");
  create_index_as(
      R"({"key": {"b": "hashed"}, "name": "b", "language_override": "l", "_id": 1,
          "finestIndexedLevel": 2, "coarsestIndexedLevel": {"$numberLong": "1099511627776"},
          "2dsphereIndexVersion": 3, "textIndexVersion": 99, "default_language": "english"})");
  reopen();
  const std::vector<std::string> all = index_specifications();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], json(doc(R"({"v": 2, "key": {"a": 1}, "name": "a", "sparse": true,
                                 "bits": 26, "min": -3.0, "max": 1.0})")));
  EXPECT_EQ(all[2],
            json(doc(R"({"v": 2, "key": {"b": "hashed"}, "name": "b", "default_language": "english",
                         "language_override": "l", "textIndexVersion": 99,
                         "2dsphereIndexVersion": 3, "coarsestIndexedLevel": 2147483647,
                         "finestIndexedLevel": 2})")));
  create_index_as(
      R"({"key": {"a": 1}, "name": "a", "sparse": true, "min": -3.0, "max": 1, "bits": 26})");
  for (const char* const other : {"", R"(, "bits": 26, "min": -3)", R"(, "bits": 20)"}) {
    EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "name": "a", "sparse": true)" +
                                    std::string(other) + "}"),
                FailedWith(ErrorCode::kIndexOptionsConflict))
        << other;
  }
}

TEST_P(StoreContract, IndexProperties_BadOptionsOfOtherKinds_AreRefused) {
  const auto expect = [&](ErrorCode code, std::string_view option) {
    EXPECT_THAT(
        try_create_index_as(R"({"key": {"a": 1}, "name": "a", )" + std::string(option) + "}"),
        FailedWith(code))
        << option;
  };
  for (const char* const option :
       {R"("bits": "x")", R"("min": true)", R"("max": null)", R"("textIndexVersion": {})",
        R"("default_language": 1)", R"("language_override": null)", R"("weights": 1)"}) {
    expect(ErrorCode::kTypeMismatch, option);
  }
  expect(ErrorCode::kCannotCreateIndex, R"("weights": {"a": 1})");
  expect(ErrorCode::kCannotCreateIndex, R"("weights": "a")");
  expect(ErrorCode::kCannotCreateIndex, R"("storageEngine": 1)");
  expect(ErrorCode::kCannotCreateIndex, R"("storageEngine": {})");
  expect(ErrorCode::kBadValue, R"("wildcardProjection": {"a": 1})");
  expect(ErrorCode::kInvalidIndexSpecificationOption, R"("bucketSize": 1)");
}

// Servers accept dropDups, and have ignored it since 3.0.
TEST_P(StoreContract, IndexProperties_DropDups_DropsNone) {
  insert(R"({"_id": 1, "a": 1})");
  insert(R"({"_id": 2, "a": 1})");
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "unique": true, "dropDups": true})"),
              FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_EQ(count("{}"), 2);
}

TEST_P(StoreContract, Unsupported_Indexes_AreRefused) {
  for (const char* const specification :
       {R"({"key": {"a": "2d"}})", R"({"key": {"a": "2dsphere"}})",
        R"({"key": {"$**": "hashed"}})"}) {
    EXPECT_THAT(try_create_index_as(specification), FailedWith(ErrorCode::kCannotCreateIndex))
        << specification;
  }
  EXPECT_THAT(collection_names(), testing::IsEmpty());
}

TEST_P(StoreContract, IndexProperties_BadSpecifications_AreRefused) {
  const auto expect = [&](ErrorCode code, std::string_view specification) {
    EXPECT_THAT(try_create_index_as(specification), FailedWith(code)) << specification;
  };
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"a": 0}})");
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"a": true}})");
  expect(ErrorCode::kInvalidIndexSpecificationOption, R"({"key": {"a": 1}, "nosuch": true})");
  expect(ErrorCode::kFailedToParse, R"({"name": "a"})");
  expect(ErrorCode::kTypeMismatch, R"({"key": 1})");
  expect(ErrorCode::kTypeMismatch, R"({"key": {"a": 1}, "unique": "yes"})");
  expect(ErrorCode::kCannotCreateIndex,
         R"({"key": {"a": 1}, "sparse": true, "partialFilterExpression": {"a": 1}})");
  expect(ErrorCode::kCannotCreateIndex,
         R"({"key": {"a": 1}, "partialFilterExpression": {"a": {"$ne": 1}}})");
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"a": 1, "b": 1}, "expireAfterSeconds": 1})");
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"a": 1}, "expireAfterSeconds": -1})");
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"a": 1}, "expireAfterSeconds": "1"})");
  expect(ErrorCode::kCannotCreateIndex, R"({"key": {"_id": 1}, "expireAfterSeconds": 1})");
  expect(ErrorCode::kInvalidIndexSpecificationOption, R"({"key": {"_id": 1}, "sparse": true})");
  expect(kUniqueHashedIndex, R"({"key": {"a": "hashed"}, "unique": true})");
  expect(ErrorCode{31303}, R"({"key": {"a": "hashed", "b": "hashed"}})");
  EXPECT_THAT(collection_names(), testing::IsEmpty());
}

TEST_P(StoreContract, IndexProperties_Conflicts_AreThoseOfServers) {
  create_index_as(R"({"key": {"a": 1}, "name": "a"})");
  create_index_as(R"({"key": {"a": 1}, "name": "a"})");
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "name": "other"})"),
              FailedWith(ErrorCode::kIndexOptionsConflict));
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "name": "a", "expireAfterSeconds": 5})"),
              FailedWith(ErrorCode::kIndexOptionsConflict));
  EXPECT_THAT(try_create_index_as(R"({"key": {"a": 1}, "name": "a", "sparse": true})"),
              FailedWith(ErrorCode::kIndexKeySpecsConflict));
  // These are other indexes on the same keys.
  create_index_as(R"({"key": {"a": 1}, "name": "sparse", "sparse": true})");
  create_index_as(R"({"key": {"a": 1}, "name": "partial", "partialFilterExpression": {"b": 1}})");
  EXPECT_EQ(index_names().size(), 4U);
}

TEST_P(StoreContract, IndexProperties_Sparse_HoldsDocumentsWithAField) {
  insert(R"({"_id": 1})");
  insert(R"({"_id": 2, "a": null})");
  insert(R"({"_id": 3, "a": 5})");
  insert(R"({"_id": 4, "b": 5})");
  insert(R"({"_id": 5, "a": []})");
  create_index_as(R"({"key": {"a": 1}, "name": "a", "sparse": true})");
  create_index_as(R"({"key": {"a": 1, "b": 1}, "name": "ab", "sparse": true})");
  EXPECT_THAT(ids_by("a", "{}"), UnorderedElementsAre("2", "3", "5"));
  EXPECT_THAT(ids_by("ab", "{}"), UnorderedElementsAre("2", "3", "4", "5"));
  // Documents that the index lacks are found without it.
  EXPECT_THAT(ids(R"({"a": null})"), UnorderedElementsAre("1", "2", "4"));
  EXPECT_THAT(ids(R"({"a": {"$exists": false}})"), UnorderedElementsAre("1", "4"));
  EXPECT_THAT(ids("{}", {.sort = R"({"a": 1})"}).size(), 5U);
  update(R"({"_id": 3})", R"({"$unset": {"a": ""}})");
  EXPECT_THAT(ids_by("a", "{}"), UnorderedElementsAre("2", "5"));
}

TEST_P(StoreContract, IndexProperties_SparseUnique_LetsManyBeWithoutTheField) {
  create_index_as(R"({"key": {"a": 1}, "sparse": true, "unique": true})");
  insert(R"({"_id": 1})");
  insert(R"({"_id": 2})");
  insert(R"({"_id": 3, "a": null})");
  EXPECT_THAT(try_insert(R"({"_id": 4, "a": null})"), FailedWith(ErrorCode::kDuplicateKey));
}

TEST_P(StoreContract, IndexProperties_Partial_ConstrainsItsDocumentsAlone) {
  create_index_as(R"({"key": {"user": 1}, "name": "p", "unique": true,
            "partialFilterExpression": {"age": {"$gte": 21}}})");
  insert(R"({"_id": 1, "user": "david", "age": 29})");
  insert(R"({"_id": 2, "user": "david", "age": 20})");
  insert(R"({"_id": 3, "user": "david"})");
  EXPECT_THAT(try_insert(R"({"_id": 4, "user": "david", "age": 21})"),
              FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids(R"({"user": "david"})"), UnorderedElementsAre("1", "2", "3"));
  EXPECT_THAT(ids(R"({"user": "david", "age": {"$gt": 25}})"), ElementsAre("1"));
  // A change to another field brings the document into the index.
  EXPECT_THAT(try_update(R"({"_id": 2})", R"({"$set": {"age": 40}})"),
              FailedWith(ErrorCode::kDuplicateKey));
  update(R"({"_id": 1})", R"({"$set": {"age": 3}})");
  update(R"({"_id": 2})", R"({"$set": {"age": 40}})");
  EXPECT_THAT(ids_by("p", R"({"age": {"$gte": 21}})"), ElementsAre("2"));
  const auto view = snapshot();
  Find find;
  find.hint = bson::Value("p");
  // A hint is obeyed, even if the index lacks documents.
  EXPECT_EQ(find_in(*view, R"({"user": "david"})", find), find_in(*view, R"({"_id": 2})", {}));
}

// A value may be equal to values of other types, which an index of one type does not have.
TEST_P(StoreContract, IndexProperties_PartialByType_HidesNoEqualValues) {
  insert(R"({"_id": 1, "a": 5.0})");
  insert(R"({"_id": 2, "a": {"$numberLong": "5"}})");
  insert(R"({"_id": 3, "a": "x"})");
  insert(R"({"_id": 4, "a": {"$symbol": "x"}})");
  create_index_as(R"({"key": {"a": 1}, "name": "n",
                      "partialFilterExpression": {"a": {"$type": "double"}}})");
  create_index_as(R"({"key": {"a": -1}, "name": "s",
                      "partialFilterExpression": {"a": {"$type": "string"}}})");
  EXPECT_THAT(ids(R"({"a": 5.0})"), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(ids(R"({"a": {"$in": [5.0, 7]}})"), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(ids(R"({"a": "x"})"), UnorderedElementsAre("3", "4"));
  EXPECT_THAT(ids(R"({"a": {"$type": "double"}})"), UnorderedElementsAre("1"));
  EXPECT_THAT(ids(R"({"a": {"$type": "string"}})"), UnorderedElementsAre("3"));
}

TEST_P(StoreContract, IndexProperties_Hashed_AnswersEquality) {
  for (int id = 0; id < 50; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": )" + std::to_string(id % 10) + "}");
  }
  create_index_as(R"({"key": {"a": "hashed"}, "name": "h"})");
  EXPECT_THAT(ids(R"({"a": 3.0})"), UnorderedElementsAre("3", "13", "23", "33", "43"));
  EXPECT_EQ(count(R"({"a": {"$in": [1, 2]}})"), 10);
  EXPECT_EQ(count(R"({"a": {"$gt": 7}})"), 10);
  EXPECT_EQ(ids("{}", {.sort = R"({"a": -1, "_id": 1})", .limit = 1}),
            std::vector<std::string>{"9"});
  EXPECT_THAT(try_insert(R"({"_id": 100, "a": [1]})"), FailedWith(kArrayUnderHashedIndex));
  insert(R"({"_id": 101})");
  EXPECT_THAT(ids(R"({"a": null})"), ElementsAre("101"));
  EXPECT_EQ(remove(R"({"a": 3})"), 5);
  EXPECT_THAT(ids_by("h", R"({"a": 3})"), testing::IsEmpty());
}

TEST_P(StoreContract, IndexProperties_Hashed_NamesTheFirstArray) {
  create_index_as(R"({"key": {"b.c": 1, "h": "hashed"}, "name": "h"})");
  const auto message = [&](const std::string& document) {
    const auto inserted = try_insert(document);
    EXPECT_THAT(inserted, FailedWith(kArrayUnderHashedIndex));
    return inserted ? std::string() : inserted.error().message();
  };
  EXPECT_THAT(message(R"({"_id": 1, "b": [{"c": 1}], "h": 2})"),
              testing::EndsWith("Found array at path: b"));
  EXPECT_THAT(message(R"({"_id": 1, "b": {"c": [1]}, "h": [2]})"),
              testing::EndsWith("Found array at path: b.c"));
  EXPECT_THAT(message(R"({"_id": 1, "h": [2]})"), testing::EndsWith("Found array at path: h"));
}

TEST_P(StoreContract, IndexProperties_Hidden_IsKeptButNotUsed) {
  create_index_as(R"({"key": {"a": 1}, "name": "h", "hidden": true, "unique": true})");
  insert(R"({"_id": 1, "a": 1})");
  EXPECT_THAT(try_insert(R"({"_id": 2, "a": 1})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids(R"({"a": 1})"), ElementsAre("1"));
  // The index exists already, and stays hidden although the request does not hide it.
  create_index_as(R"({"key": {"a": 1}, "name": "h", "unique": true})");
  const auto view = snapshot();
  Find find;
  find.hint = bson::Value("h");
  EXPECT_THAT(try_find(*view, R"({"a": 1})", find), FailedWith(ErrorCode::kBadValue));
}

}  // namespace
}  // namespace gridmount::engine
