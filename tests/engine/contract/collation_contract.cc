// Goal: commands compare strings by their collation, in every part of the command. Indexes with
// other collations do not change the results.

#include "tests/engine/contract/store_contract.h"
#include "tests/sanitized.h"

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

constexpr const char* kWhole =
    R"({"locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 2,
        "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
        "normalization": false, "backwards": false, "version": "57.1"})";

// Makes collections, views and indexes with collations.
class Collated {
 public:
  using Commit = std::function<Status(const std::function<Status(Transaction&)>&)>;
  Collated(Database& database, Commit commit) : database_(database), commit_(std::move(commit)) {}

  Status create(std::string_view name, const std::string& options) {
    return commit_([&](Transaction& transaction) {
      return database_.create(transaction, name, doc(options));
    });
  }

  std::string options_of(Snapshot& snapshot, std::string_view name) {
    const auto info = database_.collection_info(snapshot, name);
    return info && *info ? json((*info)->options) : "";
  }

 private:
  Database& database_;
  Commit commit_;
};

#define COLLATED_OF_TEST()    \
  const auto database = db(); \
  Collated collated(          \
      *database, [this](const std::function<Status(Transaction&)>& work) { return commit(work); })

std::string with_collation(const std::string& fields, const std::string& collation) {
  return "{" + fields + (fields.empty() ? "" : ", ") + R"("collation": )" + collation + "}";
}

TEST_P(StoreContract, Collation_OfACollection_IsInherited) {
  COLLATED_OF_TEST();
  ASSERT_THAT(collated.create("c", with_collation("", kIgnoringCase)), Succeeded());
  EXPECT_EQ(collated.options_of(*snapshot(), "c"), json(doc(with_collation("", kWhole))));
  insert(R"({"_id": "A", "s": "x", "list": ["b", "C"]})");
  insert(R"({"_id": "b", "s": "Y"})");
  EXPECT_THAT(try_insert(R"({"_id": "a"})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids(R"({"_id": "a"})"), ElementsAre("\"A\""));
  EXPECT_THAT(ids(R"({"_id": "a"})", {.collation = R"({"locale": "simple"})"}), ElementsAre());
  EXPECT_THAT(ids(R"({"s": {"$gt": "X"}})"), ElementsAre("\"b\""));
  EXPECT_THAT(ids("{}", {.sort = R"({"s": -1})"}), ElementsAre("\"b\"", "\"A\""));
  EXPECT_THAT(ids("{}", {.sort = R"({"s": 1})", .collation = R"({"locale": "simple"})"}),
              ElementsAre("\"b\"", "\"A\""));
  EXPECT_EQ(count(R"({"s": "y"})"), 1);
  EXPECT_EQ(update(R"({"list": "B"})", R"({"$set": {"list.$": "z"}})").modified, 1);
  EXPECT_EQ(update(R"({"_id": "B"})", R"({"$set": {"q": 1}})", {.upsert = true}).matched, 1);
  EXPECT_EQ(remove(R"({"_id": "B"})"), 1);
  const auto view = snapshot();
  const auto values = collection()->distinct(*view, "list", bson::View(), {});
  ASSERT_THAT(values, Succeeded());
  EXPECT_EQ(values->size(), 2U);
}

// A $merge without a collation finds matches by the collation of its target.
TEST_P(StoreContract, Collation_OfAMerge_IsThatOfItsTarget) {
  COLLATED_OF_TEST();
  ASSERT_THAT(collated.create("target", with_collation("", kIgnoringCase)), Succeeded());
  insert(R"({"_id": "A", "n": 1})");
  insert(R"({"_id": "a", "n": 0})", "target");
  const auto merge = [&](const std::string& when) {
    const bson::Document stages =
        doc(R"({"0": {"$merge": {"into": "target", "whenMatched": )" + when + "}}}");
    return commit([&](Transaction& transaction) -> Status {
      GM_TRY(collection()->aggregate(transaction, stages, {}));
      return {};
    });
  };
  EXPECT_THAT(merge(R"("keepExisting")"), Succeeded());
  EXPECT_THAT(merge(R"("merge")"), FailedWith(ErrorCode::kImmutableField));
  EXPECT_THAT(merge(R"([{"$set": {"n": 7}}])"), Succeeded());
  EXPECT_THAT(find("{}", {}, "target"), ElementsAre(json(doc(R"({"_id": "a", "n": 7})"))));
}

// The collation of the pipeline decides which unique index fits, and not which documents match.
TEST_P(StoreContract, Collation_OfAMerge_IsNotThatOfItsPipeline) {
  COLLATED_OF_TEST();
  const bson::Document collation = doc(kIgnoringCase);
  insert(R"({"_id": 1, "k": "X", "n": 1})", "source");
  const bson::Document stages =
      doc(R"({"0": {"$unset": "_id"}, "1": {"$merge": {"into": "c", "on": "k"}}})");
  for (const bool is_collated : {false, true}) {
    if (is_collated) {
      ASSERT_THAT(commit([&](Transaction& transaction) { return db()->drop(transaction, "c"); }),
                  Succeeded());
      ASSERT_THAT(collated.create("c", with_collation("", kIgnoringCase)), Succeeded());
    }
    create_index_as(with_collation(R"("key": {"k": 1}, "unique": true)", kIgnoringCase));
    insert(R"({"_id": "b", "k": "y"})");
    insert(R"({"_id": "A", "k": "x"})");
    const Status merged = commit([&](Transaction& transaction) -> Status {
      GM_TRY(collection("source")->aggregate(transaction, stages, {.collation = collation}));
      return {};
    });
    const std::string unchanged = json(doc(R"({"_id": "A", "k": "x"})"));
    const std::string changed = json(doc(R"({"_id": "A", "k": "X", "n": 1})"));
    if (is_collated) {
      EXPECT_THAT(merged, Succeeded());
    } else {
      EXPECT_THAT(merged, FailedWith(ErrorCode::kDuplicateKey));
    }
    EXPECT_THAT(find("{}"), ElementsAre(json(doc(R"({"_id": "b", "k": "y"})")),
                                        is_collated ? changed : unchanged));
  }
}

TEST_P(StoreContract, Collation_OfACollection_IsThatOfItsIndexes) {
  COLLATED_OF_TEST();
  ASSERT_THAT(collated.create("c", with_collation("", kIgnoringCase)), Succeeded());
  create_index_as(R"({"key": {"s": 1}, "unique": true})");
  create_index_as(R"({"key": {"s": 1}, "name": "bytes", "collation": {"locale": "simple"}})");
  EXPECT_THAT(index_specifications(),
              UnorderedElementsAre(
                  json(doc(with_collation(R"("v": 2, "key": {"_id": 1}, "name": "_id_")", kWhole))),
                  json(doc(with_collation(
                      R"("v": 2, "key": {"s": 1}, "name": "s_1", "unique": true)", kWhole))),
                  json(doc(R"({"v": 2, "key": {"s": 1}, "name": "bytes"})"))));
  insert(R"({"_id": 1, "s": "x"})");
  EXPECT_THAT(try_insert(R"({"_id": 2, "s": "X"})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids(R"({"s": "X"})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"s": "X"})", {.collation = R"({"locale": "simple"})"}), ElementsAre());
  EXPECT_THAT(
      try_create_index_as(R"({"key": {"s": 1}, "name": "s_1", "collation": {"locale": "simple"}})"),
      FailedWith(ErrorCode::kIndexKeySpecsConflict));
  EXPECT_THAT(
      try_create_index_as(R"({"key": {"_id": 1}, "name": "_id_", "collation": {"locale": "fr"}})"),
      FailedWith(ErrorCode::kBadValue));
}

// The results are the same with indexes of several collations, in both directions, and without
// them.
TEST_P(StoreContract, Collation_OfIndexes_ChangesNoResult) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  const std::string texts[] = {"a", "A", "b", "B", "", "10", "9", "\u00e4", "aa", "a b", "a-b"};
  int id = 0;
  for (const std::string& text : texts) {
    insert(R"({"_id": )" + std::to_string(++id) + R"(, "s": ")" + text + R"("})");
    insert(R"({"_id": )" + std::to_string(++id) + R"(, "s": {"t": ")" + text + R"("}})");
  }
  for (const char* const other : {"5", "null", "true", R"({"$date": "2020-01-01T00:00:00Z"})"}) {
    insert(R"({"_id": )" + std::to_string(++id) + R"(, "s": )" + other + "}");
  }
  const std::string filters[] = {R"({"s": "a"})",
                                 R"({"s": {"$gt": "A"}})",
                                 R"({"s": {"$gte": "a", "$lte": "B"}})",
                                 R"({"s": {"$lt": "b"}})",
                                 R"({"s": {"$in": ["A", "B", 5, null]}})",
                                 R"({"s": {"$gte": {"t": "A"}}})",
                                 R"({"s": {"$regex": "^a"}})",
                                 R"({"s": {"$type": "string"}})",
                                 R"({"s": {"$ne": "a"}})",
                                 R"({"s": {"$gt": 1}})",
                                 R"({"$or": [{"s": "b"}, {"s": 5}]})",
                                 R"({"$expr": {"$gt": ["$s", "B"]}})",
                                 "{}"};
  const std::string collations[] = {"",
                                    kEnglish,
                                    kIgnoringCase,
                                    R"({"locale": "en", "numericOrdering": true})",
                                    R"({"locale": "en", "alternate": "shifted"})",
                                    R"({"locale": "en", "caseFirst": "upper"})"};
  const auto results = [&] {
    std::vector<std::vector<std::string>> all;
    for (const std::string& collation : collations) {
      for (const std::string& filter : filters) {
        all.push_back(ids(filter, {.sort = R"({"s": 1, "_id": 1})", .collation = collation}));
        all.push_back(ids(filter, {.sort = R"({"_id": 1})", .collation = collation}));
      }
    }
    return all;
  };
  const std::vector<std::vector<std::string>> expected = results();
  int number = 0;
  for (const std::string& collation : collations) {
    if (collation.empty()) continue;
    for (const char* const keys : {R"({"s": 1})", R"({"s": -1, "_id": -1})"}) {
      create_index_as(with_collation(
          R"("key": )" + std::string(keys) + R"(, "name": "i)" + std::to_string(number++) + R"(")",
          collation));
      EXPECT_EQ(results(), expected) << keys << " " << collation;
    }
  }
}

TEST_P(StoreContract, Collation_OfAPartialIndex_IsThatOfItsFilter) {
  create_index_as(R"({"key": {"n": 1}, "unique": true,
      "partialFilterExpression": {"s": "x"}, "collation": {"locale": "en", "strength": 2}})");
  insert(R"({"_id": 1, "n": 1, "s": "X"})");
  EXPECT_THAT(try_insert(R"({"_id": 2, "n": 1, "s": "x"})"), FailedWith(ErrorCode::kDuplicateKey));
  insert(R"({"_id": 3, "n": 1, "s": "y"})");
  EXPECT_THAT(ids(R"({"n": 1, "s": "X"})"), ElementsAre("1"));
  EXPECT_THAT(ids(R"({"n": 1, "s": "x"})", {.collation = kIgnoringCase}), ElementsAre("1"));
}

TEST_P(StoreContract, Collation_OfAValidator_IsThatOfTheCollection) {
  COLLATED_OF_TEST();
  ASSERT_THAT(collated.create("c", with_collation(R"("validator": {"s": "x"})", kIgnoringCase)),
              Succeeded());
  insert(R"({"_id": 1, "s": "X"})");
  EXPECT_THAT(try_insert(R"({"_id": 2, "s": "y"})"), FailedWith(ErrorCode{121}));
}

TEST_P(StoreContract, Collation_OfAView_IsTheOnlyOne) {
  COLLATED_OF_TEST();
  constexpr ErrorCode kOptionNotSupportedOnView{167};
  insert(R"({"_id": "A"})");
  ASSERT_THAT(
      collated.create("v", with_collation(R"("viewOn": "c", "pipeline": [])", kIgnoringCase)),
      Succeeded());
  EXPECT_EQ(collated.options_of(*snapshot(), "v"),
            json(doc(with_collation(R"("viewOn": "c", "pipeline": [])", kWhole))));
  EXPECT_THAT(find(R"({"_id": "a"})", {}, "v"), ElementsAre(json(doc(R"({"_id": "A"})"))));
  EXPECT_EQ(count(R"({"_id": "a"})", "v"), 1);
  const auto view = snapshot();
  EXPECT_THAT(try_find(*view, "{}", {.collation = kIgnoringCase}, "v"), Succeeded());
  for (const char* const other : {R"({"locale": "fr"})", R"({"locale": "simple"})"}) {
    EXPECT_THAT(try_find(*view, "{}", {.collation = other}, "v"),
                FailedWith(kOptionNotSupportedOnView));
  }
  EXPECT_THAT(collated.create("vv", R"({"viewOn": "v", "pipeline": []})"),
              FailedWith(kOptionNotSupportedOnView));
  EXPECT_THAT(
      collated.create("vv", with_collation(R"("viewOn": "v", "pipeline": [])", kIgnoringCase)),
      Succeeded());
  const bson::Document lookup = doc(R"({"0": {"$lookup": {"from": "v", "as": "o", "localField":
      "_id", "foreignField": "_id"}}})");
  EXPECT_THAT(collection()->aggregate(*view, lookup, {}), FailedWith(kOptionNotSupportedOnView));
  const bson::Document collation = doc(kIgnoringCase);
  EXPECT_THAT(collection()->aggregate(*view, lookup, {.collation = collation}), Succeeded());
}

}  // namespace
}  // namespace gridmount::engine
