// Goal: indexes can be created and dropped, and handle uniqueness, arrays, order and long values.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(StoreContract, CreateIndex_NamesItFromItsKeys) {
  create_index(R"({"files_id": 1, "n": -1})");
  EXPECT_THAT(index_names(), ElementsAre("_id_", "files_id_1_n_-1"));
}

TEST_P(StoreContract, CreateIndex_MakesTheCollection) {
  create_index(R"({"a": 1})", false, "by_a", "new");
  EXPECT_THAT(collection_names(), ElementsAre("new"));
  EXPECT_THAT(index_names("new"), ElementsAre("_id_", "by_a"));
}

TEST_P(StoreContract, CreateIndex_Again_ChangesNothing) {
  create_index(R"({"a": 1})", true, "by_a");
  create_index(R"({"a": 1})", true, "by_a");
  create_index(R"({"_id": 1})");
  EXPECT_THAT(index_names(), ElementsAre("_id_", "by_a"));
}

TEST_P(StoreContract, CreateIndex_Conflicts_AreErrors) {
  create_index(R"({"a": 1})", false, "by_a");
  EXPECT_THAT(try_create_index(R"({"b": 1})", false, "by_a"),
              FailedWith(ErrorCode::kIndexKeySpecsConflict));
  EXPECT_THAT(try_create_index(R"({"a": 1})", true, "by_a"),
              FailedWith(ErrorCode::kIndexKeySpecsConflict));
  EXPECT_THAT(try_create_index(R"({"a": 1})", false, "other"),
              FailedWith(ErrorCode::kIndexOptionsConflict));
  EXPECT_THAT(try_create_index(R"({"b": 1})", false, "_id_"), FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(index_names(), ElementsAre("_id_", "by_a"));
}

TEST_P(StoreContract, CreateIndex_BadKeys_AreRefused) {
  EXPECT_THAT(try_create_index("{}", false), FailedWith(ErrorCode::kCannotCreateIndex));
  EXPECT_THAT(try_create_index(R"({"a": 0})", false), FailedWith(ErrorCode::kCannotCreateIndex));
  EXPECT_THAT(try_create_index(R"({"a..b": 1})", false), FailedWith(ErrorCode::kCannotCreateIndex));
  EXPECT_THAT(try_create_index(R"({"": 1})", false), FailedWith(ErrorCode::kCannotCreateIndex));
  EXPECT_THAT(collection_names(), IsEmpty());
}

TEST_P(StoreContract, CreateIndex_OverDocuments_FindsThem) {
  for (int id = 0; id < 200; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": )" + std::to_string(id % 10) + "}");
  }
  create_index(R"({"a": -1})");
  EXPECT_EQ(count(R"({"a": 3})"), 20);
  EXPECT_EQ(ids("{}", {.sort = R"({"a": -1})", .limit = 1}), std::vector<std::string>{"9"});
}

TEST_P(StoreContract, CreateIndex_UniqueOverDuplicates_LeavesNothingBehind) {
  insert(R"({"_id": 1, "a": 1})");
  insert(R"({"_id": 2, "a": 1})");
  const auto transaction = begin();
  const Status status =
      collection()->create_index(*transaction, {"by_a", doc(R"({"a": 1})"), true});
  EXPECT_THAT(status, FailedWith(ErrorCode::kDuplicateKey));
  const bson::Document details{std::vector<uint8_t>(status.error().details())};
  EXPECT_EQ(json(details), json(doc(R"({"keyPattern": {"a": 1}, "keyValue": {"a": 1}})")));
  // The transaction can continue.
  EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 3, "a": 1})")), Succeeded());
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
  EXPECT_EQ(count(R"({"a": 1})"), 3);
}

TEST_P(StoreContract, UniqueIndex_RefusesDuplicatesWithDetails) {
  create_index(R"({"parent": 1, "name": 1})", true);
  insert(R"({"_id": 1, "parent": "a", "name": "x"})");
  insert(R"({"_id": 2, "parent": "a", "name": "y"})");
  const Status status = try_insert(R"({"_id": 3, "parent": "a", "name": "x"})");
  EXPECT_THAT(status, FailedWith(ErrorCode::kDuplicateKey));
  const bson::Document details{std::vector<uint8_t>(status.error().details())};
  EXPECT_EQ(json(details), json(doc(R"({"keyPattern": {"parent": 1, "name": 1},
                                        "keyValue": {"parent": "a", "name": "x"}})")));
  EXPECT_THAT(ids("{}"), ElementsAre("1", "2"));
}

TEST_P(StoreContract, UniqueIndex_MissingFieldsCountAsNull) {
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1})");
  EXPECT_THAT(try_insert(R"({"_id": 2})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(try_insert(R"({"_id": 2, "a": null})"), FailedWith(ErrorCode::kDuplicateKey));
  insert(R"({"_id": 2, "a": 1})");
}

TEST_P(StoreContract, UniqueIndex_UpdateToItself_IsAllowed) {
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1, "a": 1})");
  EXPECT_EQ(update(R"({"_id": 1})", R"({"$set": {"a": 1, "b": 2}})").modified, 1);
  EXPECT_EQ(update(R"({"_id": 1})", R"({"$set": {"a": 2}})").modified, 1);
  insert(R"({"_id": 2, "a": 1})");
}

TEST_P(StoreContract, UniqueIndex_OverArrays_ComparesElementsBetweenDocuments) {
  create_index(R"({"tags": 1})", true);
  insert(R"({"_id": 1, "tags": ["a", "a", "b"]})");
  const Status status = try_insert(R"({"_id": 2, "tags": ["c", "b"]})");
  EXPECT_THAT(status, FailedWith(ErrorCode::kDuplicateKey));
  const bson::Document details{std::vector<uint8_t>(status.error().details())};
  EXPECT_EQ(json(details), json(doc(R"({"keyPattern": {"tags": 1}, "keyValue": {"tags": "b"}})")));
  EXPECT_THAT(ids(R"({"tags": "c"})"), IsEmpty());
  insert(R"({"_id": 2, "tags": ["c"]})");
  EXPECT_THAT(ids(R"({"tags": {"$in": ["a", "b", "c"]}})"), UnorderedElementsAre("1", "2"));
}

TEST_P(StoreContract, MultikeyIndex_FindsElementsAndGivesDocumentsOnce) {
  create_index(R"({"a": 1})");
  insert(R"({"_id": 1, "a": [1, 5, 9]})");
  insert(R"({"_id": 2, "a": 5})");
  insert(R"({"_id": 3, "a": []})");
  insert(R"({"_id": 4, "a": [[1, 5]]})");
  insert(R"({"_id": 5, "a": [1, 5]})");
  EXPECT_THAT(ids(R"({"a": 5})"), UnorderedElementsAre("1", "2", "5"));
  EXPECT_THAT(ids(R"({"a": {"$gte": 1}})"), UnorderedElementsAre("1", "2", "5"));
  EXPECT_EQ(count(R"({"a": {"$gte": 1}})"), 3);
  // Each bound may be satisfied by a different element.
  EXPECT_THAT(ids(R"({"a": {"$gt": 5, "$lt": 5}})"), UnorderedElementsAre("1"));
  EXPECT_THAT(ids(R"({"a": [1, 5]})"), UnorderedElementsAre("4", "5"));
  EXPECT_THAT(ids(R"({"a": []})"), UnorderedElementsAre("3"));
  EXPECT_THAT(ids(R"({"a": null})"), IsEmpty());
}

TEST_P(StoreContract, MultikeyIndex_SortsByLeastOrGreatestElement) {
  insert(R"({"_id": 1, "a": [3, 8]})");
  insert(R"({"_id": 2, "a": 5})");
  insert(R"({"_id": 3, "a": [1, 4]})");
  for (const bool indexed : {false, true}) {
    if (indexed) create_index(R"({"a": 1})");
    EXPECT_THAT(ids("{}", {.sort = R"({"a": 1})"}), ElementsAre("3", "1", "2"));
    EXPECT_THAT(ids("{}", {.sort = R"({"a": -1})"}), ElementsAre("1", "2", "3"));
  }
}

TEST_P(StoreContract, MultikeyIndex_Compound_PairsValuesOfOneElement) {
  create_index(R"({"a.b": 1, "a.c": 1})");
  insert(R"({"_id": 1, "a": [{"b": 1, "c": 2}, {"b": 3, "c": 4}]})");
  EXPECT_THAT(ids(R"({"a.b": 1, "a.c": 2})"), ElementsAre("1"));
  // Different elements may satisfy the two conditions.
  EXPECT_THAT(ids(R"({"a.b": 1, "a.c": 4})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"a.b": 1, "a.c": 3})"), IsEmpty());
}

TEST_P(StoreContract, MultikeyIndex_ParallelArrays_AreRefused) {
  create_index(R"({"a": 1, "b": 1})");
  EXPECT_THAT(try_insert(R"({"_id": 1, "a": [1], "b": [2]})"),
              FailedWith(ErrorCode::kCannotIndexParallelArrays));
  EXPECT_EQ(count("{}"), 0);
  insert(R"({"_id": 1, "a": [1, 2], "b": 3})");
  EXPECT_THAT(try_update(R"({"_id": 1})", R"({"$set": {"b": [3]}})"),
              FailedWith(ErrorCode::kCannotIndexParallelArrays));
  insert(R"({"_id": 2, "a": 1, "b": [3, 4]})");
  EXPECT_THAT(ids(R"({"a": 1, "b": 3})"), UnorderedElementsAre("1", "2"));
}

TEST_P(StoreContract, DescendingParts_OrderMixedTypes) {
  create_index(R"({"a": -1, "_id": 1})");
  for (const char* document :
       {R"({"_id": 1, "a": "b"})", R"({"_id": 2, "a": "a"})", R"({"_id": 3, "a": "ab"})",
        R"({"_id": 4, "a": 1})", R"({"_id": 5, "a": -1})", R"({"_id": 6})",
        R"({"_id": 7, "a": true})", R"({"_id": 8, "a": {"x": 1}})", R"({"_id": 9, "a": 1})"}) {
    insert(document);
  }
  EXPECT_THAT(ids("{}", {.sort = R"({"a": -1, "_id": 1})"}),
              ElementsAre("7", "8", "1", "3", "2", "4", "9", "5", "6"));
  EXPECT_THAT(ids("{}", {.sort = R"({"a": 1, "_id": -1})"}),
              ElementsAre("6", "5", "9", "4", "2", "3", "1", "8", "7"));
  EXPECT_THAT(ids(R"({"a": {"$gte": "ab"}})", {.sort = R"({"a": -1, "_id": 1})"}),
              ElementsAre("1", "3"));
}

TEST_P(StoreContract, NumbersInIndexes_CompareExactly) {
  create_index(R"({"a": 1})");
  // 2^53 and its neighbours, as int64, double and decimal.
  insert(R"({"_id": 1, "a": {"$numberLong": "9007199254740993"}})");
  insert(R"({"_id": 2, "a": {"$numberDouble": "9007199254740992.0"}})");
  insert(R"({"_id": 3, "a": {"$numberDecimal": "9007199254740992.5"}})");
  insert(R"({"_id": 4, "a": {"$numberLong": "9007199254740994"}})");
  insert(R"({"_id": 5, "a": {"$numberDouble": "NaN"}})");
  insert(R"({"_id": 6, "a": {"$numberDouble": "-Infinity"}})");
  insert(R"({"_id": 7, "a": {"$numberDouble": "-0.0"}})");
  insert(R"({"_id": 8, "a": {"$numberDecimal": "Infinity"}})");
  EXPECT_THAT(ids("{}", {.sort = R"({"a": 1})"}),
              ElementsAre("5", "6", "7", "2", "3", "1", "4", "8"));
  EXPECT_THAT(ids(R"({"a": {"$numberDecimal": "9007199254740993"}})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"a": 0})"), ElementsAre("7"));
}

class LongValues {
 public:
  static std::string common() { return std::string(600, 'p'); }
};

TEST_P(StoreContract, LongValues_EqualityAndOrderHold) {
  create_index(R"({"name": 1})");
  const std::string common = LongValues::common();
  for (const char* end : {"d", "b", "a", "c"}) {
    insert(R"({"_id": ")" + std::string(end) + R"(", "name": ")" + common + end + R"("})");
  }
  insert(R"({"_id": "short", "name": "p"})");
  insert(R"({"_id": "after", "name": "q"})");
  insert(R"({"_id": "common", "name": ")" + common + R"("})");
  EXPECT_THAT(ids(R"({"name": ")" + common + R"(b"})"), ElementsAre(R"("b")"));
  EXPECT_THAT(ids(R"({"name": ")" + common + R"("})"), ElementsAre(R"("common")"));
  EXPECT_THAT(ids(R"({"name": ")" + common + R"(x"})"), IsEmpty());
  EXPECT_THAT(ids("{}", {.sort = R"({"name": 1})"}),
              ElementsAre(R"("short")", R"("common")", R"("a")", R"("b")", R"("c")", R"("d")",
                          R"("after")"));
  EXPECT_THAT(ids("{}", {.sort = R"({"name": -1})", .limit = 3}),
              ElementsAre(R"("after")", R"("d")", R"("c")"));
  EXPECT_THAT(ids(R"({"name": {"$gt": ")" + common + R"(a", "$lte": ")" + common + R"(c"}})",
                  {.sort = R"({"name": 1})"}),
              ElementsAre(R"("b")", R"("c")"));
  EXPECT_EQ(count(R"({"name": {"$gt": ")" + common + R"(a"}})"), 4);
  update(R"({"_id": "b"})", R"({"$set": {"name": ")" + common + R"(e"}})");
  EXPECT_THAT(ids("{}", {.sort = R"({"name": -1})", .skip = 1, .limit = 2}),
              ElementsAre(R"("b")", R"("d")"));
  EXPECT_EQ(remove(R"({"name": ")" + common + R"(e"})"), 1);
  EXPECT_EQ(count("{}"), 6);
}

TEST_P(StoreContract, LongValues_InUniqueIndexes_AreTold) {
  create_index(R"({"name": 1, "n": -1})", true);
  const std::string common = LongValues::common();
  insert(R"({"_id": 1, "name": ")" + common + R"(a", "n": 1})");
  insert(R"({"_id": 2, "name": ")" + common + R"(a", "n": 2})");
  insert(R"({"_id": 3, "name": ")" + common + R"(b", "n": 1})");
  EXPECT_THAT(try_insert(R"({"_id": 4, "name": ")" + common + R"(a", "n": 2})"),
              FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids(R"({"name": ")" + common + R"(a"})", {.sort = R"({"name": 1, "n": -1})"}),
              ElementsAre("2", "1"));
  EXPECT_THAT(ids(R"({"name": ")" + common + R"(a", "n": 1})"), ElementsAre("1"));
}

TEST_P(StoreContract, LongIds_AreFoundAndUnique) {
  const std::string common = LongValues::common();
  insert(R"({"_id": ")" + common + R"(1"})");
  insert(R"({"_id": ")" + common + R"(2"})");
  EXPECT_THAT(try_insert(R"({"_id": ")" + common + R"(2"})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_EQ(count(R"({"_id": ")" + common + R"(1"})"), 1);
  EXPECT_EQ(remove(R"({"_id": ")" + common + R"(1"})"), 1);
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, StringsWithNulBytes_KeepTheirOrder) {
  create_index(R"({"a": 1, "b": -1})");
  insert(R"({"_id": 1, "a": "x\u0000", "b": 1})");
  insert(R"({"_id": 2, "a": "x", "b": 1})");
  insert(R"({"_id": 3, "a": "x\u0001", "b": 1})");
  insert(R"({"_id": 4, "a": "x", "b": 2})");
  insert(R"({"_id": 5, "a": "x\u0000\u0000", "b": 1})");
  EXPECT_THAT(ids("{}", {.sort = R"({"a": 1, "b": -1})"}), ElementsAre("4", "2", "1", "5", "3"));
  EXPECT_THAT(ids(R"({"a": "x\u0000"})"), ElementsAre("1"));
}

TEST_P(StoreContract, DropIndex_RemovesIt) {
  create_index(R"({"a": 1})", true, "by_a");
  insert(R"({"_id": 1, "a": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return collection()->drop_index(transaction, "by_a");
              }),
              Succeeded());
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
  insert(R"({"_id": 2, "a": 1})");
  EXPECT_EQ(count(R"({"a": 1})"), 2);
}

TEST_P(StoreContract, DropIndex_Errors) {
  const auto drop = [&](std::string_view name) {
    return commit(
        [&](Transaction& transaction) { return collection()->drop_index(transaction, name); });
  };
  EXPECT_THAT(drop("by_a"), FailedWith(ErrorCode::kNamespaceNotFound));
  insert(R"({"_id": 1})");
  EXPECT_THAT(drop("by_a"), FailedWith(ErrorCode::kIndexNotFound));
  EXPECT_THAT(drop("_id_"), FailedWith(ErrorCode::kInvalidOptions));
}

TEST_P(StoreContract, Indexes_DescribeThemselves) {
  create_index(R"({"a": 1, "b.c": -1})", true);
  const auto indexes = collection()->indexes(*snapshot());
  ASSERT_THAT(indexes, Succeeded());
  ASSERT_EQ(indexes->size(), 2u);
  EXPECT_EQ((*indexes)[0].name, "_id_");
  EXPECT_TRUE((*indexes)[0].unique);
  EXPECT_EQ(json((*indexes)[1].keys), R"({ "a" : 1, "b.c" : -1 })");
  EXPECT_TRUE((*indexes)[1].unique);
}

TEST_P(StoreContract, CreateIndex_SixtyFour_IsTheMost) {
  for (int i = 0; i < 63; ++i) create_index(R"({"f)" + std::to_string(i) + R"(": 1})");
  EXPECT_THAT(try_create_index(R"({"one_more": 1})", false),
              FailedWith(ErrorCode::kCannotCreateIndex));
}

}  // namespace
}  // namespace gridmount::engine
