// Goal: find() reads between two keys of an index, and can return index keys instead of documents.
// Source: MongoDB manual, "cursor.min()", "cursor.max()", "cursor.returnKey()",
// "cursor.showRecordId()".
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ErrorCode kNoHint{51173};
constexpr ErrorCode kOtherIndex{51174};
constexpr ErrorCode kMinNotBeforeMax{51175};

struct Limits {
  std::string min = {};
  std::string max = {};
  std::string hint = {};  // an index's name
  std::string filter = "{}";
  std::string sort = {};
};

Result<std::vector<std::string>> ids_between(Collection& collection, Snapshot& view,
                                             const Limits& limits) {
  const auto document = [](const std::string& json) {
    return json.empty() ? bson::Document() : doc(json);
  };
  const bson::Document min = document(limits.min);
  const bson::Document max = document(limits.max);
  const bson::Document sort = document(limits.sort);
  FindOptions options;
  options.min = min;
  options.max = max;
  options.sort = sort;
  if (!limits.hint.empty()) options.hint = bson::Value(limits.hint);
  GM_ASSIGN(const std::unique_ptr<Cursor> cursor,
            collection.find(view, doc(limits.filter), options));
  std::vector<std::string> ids;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> found, cursor->next());
    if (!found) return ids;
    ids.push_back(std::to_string(found->find("_id")->integral().value_or(-1)));
  }
}

TEST_P(StoreContract, KeyLimits_MinIsInclusiveAndMaxIsNot) {
  const auto between = [&](const Limits& limits) {
    const auto view = snapshot();
    const auto ids = ids_between(*collection(), *view, limits);
    EXPECT_THAT(ids, Succeeded());
    return ids ? *ids : std::vector<std::string>();
  };
  for (int id = 0; id < 6; ++id) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "a": )" + std::to_string(id / 2) +
           R"(, "b": )" + std::to_string(id % 2) + "}");
  }
  create_index_as(R"({"key": {"a": 1, "b": -1}, "name": "ab"})");
  // The order of the index is 1 0 3 2 5 4.
  EXPECT_THAT(between({.min = R"({"a": 1, "b": 1})", .max = R"({"a": 2, "b": 0})", .hint = "ab"}),
              ElementsAre("3", "2", "5"));
  EXPECT_THAT(between({.min = R"({"a": 1, "b": 0})", .hint = "ab"}), ElementsAre("2", "5", "4"));
  EXPECT_THAT(between({.max = R"({"a": 0, "b": 0})", .hint = "ab"}), ElementsAre("1"));
  EXPECT_THAT(between({.max = R"({"a": 0, "b": 9})", .hint = "ab"}), IsEmpty());
  EXPECT_THAT(between({.min = R"({"_id": 4})", .hint = "_id_"}), ElementsAre("4", "5"));
  // These cases have a filter, a sort in the order of the index, or a sort in another order.
  EXPECT_THAT(
      between(
          {.min = R"({"a": 0, "b": 0})", .hint = "ab", .filter = R"({"b": 0, "a": {"$lt": 2}})"}),
      ElementsAre("0", "2"));
  EXPECT_THAT(between({.min = R"({"a": 1, "b": 0})", .hint = "ab", .sort = R"({"a": -1, "b": 1})"}),
              ElementsAre("4", "5", "2"));
  EXPECT_THAT(between({.min = R"({"a": 1, "b": 0})", .hint = "ab", .sort = R"({"_id": 1})"}),
              ElementsAre("2", "4", "5"));
}

TEST_P(StoreContract, KeyLimits_Arrays_AreFoundByAnyOfTheirKeys) {
  const auto between = [&](const Limits& limits) {
    const auto view = snapshot();
    const auto ids = ids_between(*collection(), *view, limits);
    EXPECT_THAT(ids, Succeeded());
    return ids ? *ids : std::vector<std::string>();
  };
  insert(R"({"_id": 1, "a": [1, 5, 6]})");
  insert(R"({"_id": 2, "a": [1, 9]})");
  create_index_as(R"({"key": {"a": 1}, "name": "a"})");
  EXPECT_THAT(between({.min = R"({"a": 5})", .max = R"({"a": 7})", .hint = "a"}), ElementsAre("1"));
}

TEST_P(StoreContract, KeyLimits_WhatIsNoPartOfAnIndex_IsRefused) {
  const auto try_between = [&](const Limits& limits) {
    const auto view = snapshot();
    return ids_between(*collection(), *view, limits);
  };
  insert(R"({"_id": 1, "a": 1})");
  create_index_as(R"({"key": {"a": 1, "b": 1}, "name": "ab"})");
  EXPECT_THAT(try_between({.min = R"({"a": 1, "b": 1})"}), FailedWith(kNoHint));
  EXPECT_THAT(try_between({.min = R"({"a": 1})", .hint = "ab"}), FailedWith(kOtherIndex));
  EXPECT_THAT(try_between({.min = R"({"b": 1, "a": 1})", .hint = "ab"}), FailedWith(kOtherIndex));
  EXPECT_THAT(try_between({.max = R"({"a": 1, "b": 1, "c": 1})", .hint = "ab"}),
              FailedWith(kOtherIndex));
  EXPECT_THAT(
      try_between({.min = R"({"a": 2, "b": 1})", .max = R"({"a": 2, "b": 1})", .hint = "ab"}),
      FailedWith(kMinNotBeforeMax));
  EXPECT_THAT(try_between({.min = R"({"a": 2, "b": 1})", .hint = "nosuch"}),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, Unsupported_LongKeyLimits_AreRefused) {
  insert(R"({"_id": 1, "a": 1})");
  create_index_as(R"({"key": {"a": 1, "b": 1}, "name": "ab"})");
  const auto view = snapshot();
  const std::string long_value(1000, 'x');
  EXPECT_THAT(ids_between(*collection(), *view,
                          {.min = R"({"a": ")" + long_value + R"(", "b": 1})", .hint = "ab"}),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, KeyLimits_ReturnKey_GivesTheFieldsOfTheIndex) {
  insert(R"({"_id": 1, "a": 7, "b": {"c": "x"}, "d": 1})");
  insert(R"({"_id": 2, "a": 8})");
  create_index_as(R"({"key": {"a": 1, "b.c": -1}, "name": "ab"})");
  const auto keys = [&](const std::string& filter) {
    const auto view = snapshot();
    FindOptions options;
    options.return_key = true;
    options.show_record_id = true;  // has no effect with return_key
    const auto cursor = collection()->find(*view, doc(filter), options);
    EXPECT_THAT(cursor, Succeeded());
    std::vector<std::string> found;
    for (auto next = (*cursor)->next(); next && *next; next = (*cursor)->next()) {
      found.push_back(json(**next));
    }
    return found;
  };
  EXPECT_THAT(keys(R"({"a": {"$gt": 0}})"),
              ElementsAre(R"({ "a" : 7, "b.c" : "x" })", R"({ "a" : 8, "b.c" : null })"));
  EXPECT_THAT(keys(R"({"_id": 2})"), ElementsAre(R"({ "_id" : 2 })"));
  EXPECT_THAT(keys(R"({"d": 1})"), ElementsAre("{ }"));
}

TEST_P(StoreContract, KeyLimits_ShowRecordId_TellsDocumentsApart) {
  insert(R"({"_id": 1, "a": 7})");
  insert(R"({"_id": 2, "a": 8})");
  const bson::Document projection = doc(R"({"a": 1, "_id": 0})");
  const auto view = snapshot();
  FindOptions options;
  options.show_record_id = true;
  options.projection = projection;
  const auto first = collection()->find_one(*view, doc(R"({"_id": 1})"), options);
  ASSERT_THAT(first, Succeeded());
  EXPECT_THAT(json(**first), HasSubstr(R"({ "a" : 7, "$recordId" : )"));
  const auto second = collection()->find_one(*view, doc(R"({"_id": 2})"), options);
  ASSERT_THAT(second, Succeeded());
  EXPECT_NE((*first)->find("$recordId")->integral(), (*second)->find("$recordId")->integral());
}

}  // namespace
}  // namespace gridmount::engine
