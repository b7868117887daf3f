// Goal: find(), find_one() and count() obey filter, sort, skip, limit, projection and hint.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(StoreContract, Find_WithoutSort_GivesInsertionOrder) {
  for (const int id : {3, 1, 2}) insert(R"({"_id": )" + std::to_string(id) + "}");
  EXPECT_THAT(ids("{}"), ElementsAre("3", "1", "2"));
}

TEST_P(StoreContract, Find_Comparisons_StayWithinTheType) {
  insert(R"({"_id": 1, "a": 5})");
  insert(R"({"_id": 2, "a": 6.5})");
  insert(R"({"_id": 3, "a": "5"})");
  insert(R"({"_id": 4})");
  insert(R"({"_id": 5, "a": null})");
  for (const bool indexed : {false, true}) {
    if (indexed) create_index(R"({"a": 1})");
    EXPECT_THAT(ids(R"({"a": {"$gt": 5}})"), UnorderedElementsAre("2"));
    EXPECT_THAT(ids(R"({"a": {"$gte": 5}})"), UnorderedElementsAre("1", "2"));
    EXPECT_THAT(ids(R"({"a": {"$lt": "6"}})"), UnorderedElementsAre("3"));
    EXPECT_THAT(ids(R"({"a": null})"), UnorderedElementsAre("4", "5"));
    EXPECT_THAT(ids(R"({"a": {"$exists": true}})"), UnorderedElementsAre("1", "2", "3", "5"));
    EXPECT_THAT(ids(R"({"a": {"$in": [5, "5"]}})"), UnorderedElementsAre("1", "3"));
  }
}

TEST_P(StoreContract, Find_OrAcrossIndexes_GivesEachDocumentOnce) {
  create_index(R"({"a": 1})");
  create_index(R"({"b": 1})");
  insert(R"({"_id": 1, "a": 1, "b": 1})");
  insert(R"({"_id": 2, "a": 1, "b": 2})");
  insert(R"({"_id": 3, "a": 2, "b": 1})");
  insert(R"({"_id": 4, "a": 2, "b": 2})");
  EXPECT_THAT(ids(R"({"$or": [{"a": 1}, {"b": 1}]})"), UnorderedElementsAre("1", "2", "3"));
  EXPECT_EQ(count(R"({"$or": [{"a": 1}, {"b": 1}]})"), 3);
  EXPECT_THAT(ids(R"({"$or": [{"a": 1}, {"b": 1}]})", {.sort = R"({"_id": -1})"}),
              ElementsAre("3", "2", "1"));
}

TEST_P(StoreContract, Find_Sort_WithAndWithoutIndexIsTheSame) {
  insert(R"({"_id": 1, "name": "b", "n": 1})");
  insert(R"({"_id": 2, "name": "a", "n": 2})");
  insert(R"({"_id": 3, "name": "b", "n": 3})");
  insert(R"({"_id": 4, "n": 4})");
  insert(R"({"_id": 5, "name": 7, "n": 5})");
  for (const bool indexed : {false, true}) {
    if (indexed) create_index(R"({"name": 1, "n": -1})");
    EXPECT_THAT(ids("{}", {.sort = R"({"name": 1, "n": -1})"}),
                ElementsAre("4", "5", "2", "3", "1"));
    EXPECT_THAT(ids("{}", {.sort = R"({"name": -1, "n": 1})"}),
                ElementsAre("1", "3", "2", "5", "4"));
    EXPECT_THAT(ids("{}", {.sort = R"({"name": 1, "n": 1})"}),
                ElementsAre("4", "5", "2", "1", "3"));
    EXPECT_THAT(ids(R"({"name": "b"})", {.sort = R"({"n": -1})"}), ElementsAre("3", "1"));
  }
}

TEST_P(StoreContract, Find_SortByParallelArrays_IsRefused) {
  insert(R"({"_id": 1, "a": [3, 1], "b": 2})");
  insert(R"({"_id": 2, "a": 2, "b": [4, 1]})");
  EXPECT_THAT(ids("{}", {.sort = R"({"a": 1, "b": 1})"}), ElementsAre("1", "2"));
  insert(R"({"_id": 3, "a": [], "b": [1]})");
  const auto found = try_find(*snapshot(), "{}", {.sort = R"({"a": 1, "b": 1})"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kBadValue);
}

TEST_P(StoreContract, Find_SkipAndLimit_CutTheSortedResult) {
  for (int id = 0; id < 10; ++id) insert(R"({"_id": )" + std::to_string(id) + "}");
  EXPECT_THAT(ids("{}", {.sort = R"({"_id": -1})", .skip = 2, .limit = 3}),
              ElementsAre("7", "6", "5"));
  EXPECT_THAT(ids("{}", {.sort = R"({"x": 1, "_id": -1})", .skip = 2, .limit = 3}),
              ElementsAre("7", "6", "5"));
  EXPECT_THAT(ids("{}", {.skip = 8}), ElementsAre("8", "9"));
  EXPECT_THAT(ids("{}", {.skip = 10}), IsEmpty());
  EXPECT_THAT(ids("{}", {.limit = 2}), ElementsAre("0", "1"));
  // The sum of skip and limit exceeds an int64.
  EXPECT_THAT(ids("{}", {.sort = R"({"x": 1, "_id": 1})", .skip = 9, .limit = INT64_MAX}),
              ElementsAre("9"));
}

TEST_P(StoreContract, Find_NegativeSkipOrLimit_IsOutOfRange) {
  insert(R"({"_id": 1})");
  const auto view = snapshot();
  EXPECT_THAT(try_find(*view, "{}", {.skip = -1}), FailedWith(ErrorCode{51024}));
  EXPECT_THAT(try_find(*view, "{}", {.limit = -1}), FailedWith(ErrorCode{51024}));
  FindOptions negative;
  negative.skip = -1;
  EXPECT_THAT(collection()->find_one(*view, doc(R"({"_id": 1})"), negative),
              FailedWith(ErrorCode{51024}));
}

TEST_P(StoreContract, Find_Projection_IncludesAndExcludes) {
  insert(R"({"_id": 1, "a": 1, "b": {"c": 2, "d": 3}})");
  EXPECT_THAT(find("{}", {.projection = R"({"b.c": 1})"}),
              ElementsAre(R"({ "_id" : 1, "b" : { "c" : 2 } })"));
  EXPECT_THAT(find(R"({"_id": 1})", {.projection = R"({"b": 0})"}),
              ElementsAre(R"({ "_id" : 1, "a" : 1 })"));
  EXPECT_THAT(find(R"({"_id": 1})", {.projection = R"({"_id": 0, "a": 1})"}),
              ElementsAre(R"({ "a" : 1 })"));
}

TEST_P(StoreContract, FindOne_Projected_StaysValidWithTheSnapshot) {
  insert(R"({"_id": 1, "a": 1, "b": 2})");
  insert(R"({"_id": 2, "a": 3, "b": 4})");
  const auto view = snapshot();
  const bson::Document projection = doc(R"({"a": 1})");
  FindOptions options;
  options.projection = projection;
  const auto first = collection()->find_one(*view, doc(R"({"_id": 1})"), options);
  const auto second = collection()->find_one(*view, doc(R"({"_id": 2})"), options);
  ASSERT_THAT(first, Succeeded());
  ASSERT_THAT(second, Succeeded());
  EXPECT_EQ(json(**first), R"({ "_id" : 1, "a" : 1 })");
  EXPECT_EQ(json(**second), R"({ "_id" : 2, "a" : 3 })");
}

TEST_P(StoreContract, Find_SortBeyondItsMemory_IsRefusedUnlessAnIndexGivesIt) {
  GM_NEEDS(memory_limits);
  for (int id = 0; id < 100; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": ")" + std::to_string(id % 7) + R"("})");
  }
  const auto view = snapshot();
  const Find options{.sort = R"({"a": 1})", .sort_bytes_max = 1000};
  const bson::Document sort = doc(options.sort);
  FindOptions find_options;
  find_options.sort = sort;
  find_options.sort_bytes_max = options.sort_bytes_max;
  const auto cursor = collection()->find(*view, bson::View(), find_options);
  ASSERT_THAT(cursor, Succeeded());
  const auto refused = (*cursor)->next();
  EXPECT_THAT(refused, FailedWith(ErrorCode::kQueryExceededMemoryLimit));
  EXPECT_THAT(describe(refused),
              ::testing::HasSubstr(
                  "Sort exceeded memory limit of 1000 bytes, but did not opt in to external "
                  "sorting. Aborting operation. Pass allowDiskUse:true to opt in."));
  create_index(R"({"a": 1})");
  EXPECT_EQ(find_in(*snapshot(), "{}", options).size(), 100u);
}

TEST_P(StoreContract, Find_BadSpecifications_AreErrors) {
  const auto check = [&] {
    const auto view = snapshot();
    EXPECT_THAT(try_find(*view, R"({"a": {"$nosuch": 1}})"), FailedWith(ErrorCode::kBadValue));
    EXPECT_THAT(try_find(*view, "{}", {.sort = R"({"a": 2})"}), FailedWith(ErrorCode{15975}));
    EXPECT_FALSE(try_find(*view, "{}", {.projection = R"({"a": 1, "b": 0})"}).has_value());
    EXPECT_THAT(collection()->count(*view, doc(R"({"$nosuch": []})")),
                FailedWith(ErrorCode::kBadValue));
  };
  check();  // the collection does not exist
  insert(R"({"_id": 1})");
  check();  // the collection exists
}

TEST_P(StoreContract, Find_Hint_TakesThatIndexOrIsBadValue) {
  create_index(R"({"a": 1})", false, "by_a");
  insert(R"({"_id": 1, "a": 2})");
  insert(R"({"_id": 2, "a": 1})");
  EXPECT_THAT(ids("{}", {.hint = bson::Value("by_a")}), ElementsAre("2", "1"));
  EXPECT_THAT(ids("{}", {.hint = bson::Value(doc(R"({"a": 1})").view())}), ElementsAre("2", "1"));
  EXPECT_THAT(try_find(*snapshot(), "{}", {.hint = bson::Value("by_b")}),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, Find_RegexPrefix_UsesTheIndexAndMatches) {
  create_index(R"({"filename": 1, "uploadDate": 1})");
  for (const char* name : {"a/b", "a/c", "a/cc", "ab", "a.", "b"}) {
    insert(std::string(R"({"_id": ")") + name + R"(", "filename": ")" + name + R"("})");
  }
  EXPECT_THAT(ids(R"({"filename": {"$regularExpression": {"pattern": "^a/", "options": ""}}})",
                  {.sort = R"({"filename": 1, "uploadDate": 1})"}),
              ElementsAre(R"("a/b")", R"("a/c")", R"("a/cc")"));
  EXPECT_THAT(ids(R"({"filename": {"$gte": "a/", "$lt": "a0"}})",
                  {.sort = R"({"filename": -1})", .limit = 2}),
              ElementsAre(R"("a/cc")", R"("a/c")"));
}

TEST_P(StoreContract, Find_DotPaths_ReachIntoArrays) {
  insert(R"({"_id": 1, "items": [{"price": 5}, {"price": 9}]})");
  insert(R"({"_id": 2, "items": [{"price": 7}]})");
  insert(R"({"_id": 3, "items": {"price": 9}})");
  for (const bool indexed : {false, true}) {
    if (indexed) create_index(R"({"items.price": 1})");
    EXPECT_THAT(ids(R"({"items.price": 9})"), UnorderedElementsAre("1", "3"));
    EXPECT_THAT(ids(R"({"items.price": {"$lt": 8}})"), UnorderedElementsAre("1", "2"));
    EXPECT_THAT(ids(R"({"items.0.price": 5})"), UnorderedElementsAre("1"));
  }
}

TEST_P(StoreContract, FindOne_ByEquality_GivesTheFirstThatFindGives) {
  insert(R"({"_id": 1, "a": 1, "b": 2})");
  insert(R"({"_id": 2, "a": {"$numberDouble": "1"}, "b": 1})");
  insert(R"({"_id": 3, "a": "1", "b": 2})");
  insert(R"({"_id": 4, "b": 2})");
  insert(R"({"_id": 5, "a": 10, "b": 2})");
  const std::string long_text(1000, 'x');
  insert(R"({"_id": 6, "a": ")" + long_text + R"("})");
  insert(R"({"_id": 7, "a": ")" + long_text + R"(y"})");
  const auto expect_first = [&](std::string_view filter, std::string_view id) {
    // Checks both find() and find_one().
    const std::vector<std::string> found = ids(filter);
    ASSERT_FALSE(found.empty()) << filter;
    EXPECT_EQ(found.front(), id) << filter;
  };
  const std::vector<std::pair<std::string, std::string>> indexes = {
      {R"({"key": {"a": 1}, "hidden": true})", "1"}, {R"({"key": {"a": "hashed"}})", "1"},
      {R"({"key": {"a": 1, "b": 1}})", "2"},         {R"({"key": {"a": -1}})", "1"},
      {R"({"key": {"a": 1}, "sparse": true})", "1"}, {R"({"key": {"b": 1, "a": 1}})", "1"},
      {R"({"key": {"a": -1, "b": -1}})", "1"}};
  for (const auto& [specification, first] : indexes) {
    SCOPED_TRACE(specification);
    create_index_as(specification);
    expect_first(R"({"a": 1})", first);
    expect_first(R"({"a": 1, "b": 2})", "1");
    expect_first(R"({"a": ")" + long_text + R"(y"})", "7");
    EXPECT_THAT(ids(R"({"a": 100})"), IsEmpty());
    EXPECT_THAT(ids(R"({"a": 1, "b": 3})"), IsEmpty());
    expect_first(R"({"a": null})", "4");
    const auto name = index_names();
    ASSERT_EQ(name.size(), 2u);
    ASSERT_THAT(commit([&](Transaction& transaction) {
                  return collection()->drop_index(transaction, name[1]);
                }),
                Succeeded());
  }
  // With an array, the index has several entries per document.
  create_index(R"({"a": 1})");
  insert(R"({"_id": 0, "a": [1, 2]})");
  expect_first(R"({"a": 1})", "1");
  expect_first(R"({"a": 2})", "0");
}

TEST_P(StoreContract, Find_Partial_GivesTheSameDocument) {
  insert(R"({"_id": 1, "a": 1})");
  const auto view = snapshot();
  FindOptions options;
  options.partial = true;
  const auto found = collection()->find_one(*view, doc(R"({"a": 1})"), options);
  ASSERT_THAT(found, Succeeded());
  EXPECT_EQ(json(**found), R"({ "_id" : 1, "a" : 1 })");
}

TEST_P(StoreContract, Prefetch_ChangesNothing) {
  create_index(R"({"a": 1})");
  insert(R"({"_id": 1, "a": 1})");
  const auto view = snapshot();
  collection()->prefetch(*view, doc(R"({"_id": 1})"));
  collection()->prefetch(*view, doc(R"({"a": {"$gte": 0}})"));
  collection()->prefetch(*view, doc(R"({"a": {"$nosuch": 0}})"));
  collection("missing")->prefetch(*view, doc(R"({"_id": 1})"));
  EXPECT_EQ(find_in(*view, "{}").size(), 1u);
}

TEST_P(StoreContract, Snapshot_OfAnotherStore_IsRefused) {
  class ForeignSnapshot : public Snapshot {
   public:
    Status pause() override { return {}; }
    Status resume() override { return {}; }
    void observe(std::shared_ptr<ReadObserver> /*observer*/) override {}
  };
  ForeignSnapshot foreign;
  EXPECT_THAT(collection()->count(foreign, bson::View()), FailedWith(ErrorCode::kIllegalOperation));
}

}  // namespace
}  // namespace gridmount::engine
