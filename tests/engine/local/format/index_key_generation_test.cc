// Goal: a document has the right keys in an index.

#include "engine/local/format/index_key_generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/index_key_spec.h"

namespace gridmount::local {
namespace {

using testing::ElementsAreArray;

bson::Document parsed(const std::string& text) {
  Result<bson::Document> document = bson::document_from_json(text);
  EXPECT_TRUE(document.has_value()) << text;
  return std::move(document).value();
}

Result<IndexKeySpec> rules_of(const bson::Document& keys) {
  query::IndexDefinition definition;
  definition.name = "test";
  definition.keys = keys;
  return index_key_spec(definition);
}

struct Keys {
  std::vector<std::string> keys;
  bool multikey = false;
};

Result<Keys> extract(const std::string& index, const std::string& document) {
  const Result<IndexKeySpec> rules = rules_of(parsed(index));
  EXPECT_TRUE(rules.has_value());
  KeySet set;
  GM_TRY(extract_keys(*rules, parsed(document), set));
  Keys result;
  for (size_t i = 0; i < set.size(); ++i) result.keys.emplace_back(set[i]);
  result.multikey = set.multikey();
  return result;
}

// `expected` holds one array per key, with the values of its parts, in the order of keys.
void expect_keys(const std::string& index, const std::string& document, const std::string& expected,
                 bool multikey) {
  SCOPED_TRACE(index + " of " + document);
  const Result<Keys> extracted = extract(index, document);
  ASSERT_TRUE(extracted.has_value()) << extracted.error().message();
  const bson::Document keys = parsed(index);
  const bson::Document wanted = parsed(R"({"keys": )" + expected + "}");
  std::vector<std::string> encoded;
  for (const bson::Element key : wanted.view()["keys"].as_document()) {
    std::string bytes;
    auto part = keys.view().begin();
    for (const bson::Element value : key.value.as_document()) {
      bson::append_key_string(bytes, value.value, (*part).value.as_int32() < 0);
      ++part;
    }
    encoded.push_back(bytes);
  }
  EXPECT_THAT(extracted->keys, ElementsAreArray(encoded));
  EXPECT_EQ(extracted->multikey, multikey);
}

TEST(IndexKeyGeneration, Scalars_GiveOneKey) {
  expect_keys(R"({"a": 1})", R"({"a": 5})", "[[5]]", false);
  expect_keys(R"({"a": 1, "b": -1})", R"({"b": "x", "a": 5})", R"([[5, "x"]])", false);
  expect_keys(R"({"a.b.c": 1})", R"({"a": {"b": {"c": 7}}})", "[[7]]", false);
  expect_keys(R"({"a": 1})", R"({"a": {"x": 1}})", R"([[{"x": 1}]])", false);
}

TEST(IndexKeyGeneration, MissingFields_GiveNull) {
  expect_keys(R"({"a": 1})", "{}", "[[null]]", false);
  expect_keys(R"({"a.b": 1})", R"({"a": 5})", "[[null]]", false);
  expect_keys(R"({"a.b": 1, "c": 1})", R"({"a": {"x": 1}, "c": 2})", "[[null, 2]]", false);
}

TEST(IndexKeyGeneration, Arrays_GiveAKeyForEachElementOnce) {
  expect_keys(R"({"a": 1})", R"({"a": [3, 1, 3]})", "[[1], [3]]", true);
  expect_keys(R"({"a": -1})", R"({"a": [3, 1]})", "[[3], [1]]", true);
  expect_keys(R"({"a": 1, "b": 1})", R"({"a": [2, 1], "b": 9})", "[[1, 9], [2, 9]]", true);
  expect_keys(R"({"a": 1})", R"({"a": [[1, 2], 0]})", "[[0], [[1, 2]]]", true);
}

TEST(IndexKeyGeneration, EmptyArrays_GiveUndefinedOrNull) {
  expect_keys(R"({"a": 1})", R"({"a": []})", R"([[{"$undefined": true}]])", true);
  expect_keys(R"({"a.b": 1})", R"({"a": []})", "[[null]]", true);
}

TEST(IndexKeyGeneration, ArraysOfDocuments_GiveTheirFields) {
  expect_keys(R"({"a.b": 1})", R"({"a": [{"b": 2}, {"b": 1}, {"c": 0}, 5]})", "[[null], [1], [2]]",
              true);
  expect_keys(R"({"a.b": 1})", R"({"a": [{"b": [1, 2]}, {"b": 3}]})", "[[1], [2], [3]]", true);
  // The parts of a key come from one element.
  expect_keys(R"({"a.b": 1, "a.c": 1})", R"({"a": [{"b": 1, "c": 4}, {"b": 2, "c": 3}]})",
              "[[1, 4], [2, 3]]", true);
}

TEST(IndexKeyGeneration, NumericPathParts_MeanPositions) {
  expect_keys(R"({"a.0": 1})", R"({"a": [7, 8]})", "[[7]]", false);
  expect_keys(R"({"a.1.b": 1})", R"({"a": [{"b": 1}, {"b": 2}]})", "[[2]]", false);
  expect_keys(R"({"a.0": 1})", R"({"a": {"0": 5}})", "[[5]]", false);
  EXPECT_EQ(extract(R"({"a.0": 1})", R"({"a": [{"0": 1}]})").error().code(), ErrorCode{16746});
}

TEST(IndexKeyGeneration, ParallelArrays_AreRefused) {
  const Result<Keys> refused = extract(R"({"a": 1, "b": 1})", R"({"a": [1], "b": [2]})");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kCannotIndexParallelArrays);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("[b] [a]"));
}

TEST(IndexKeyGeneration, KeySet_ContainsItsKeysOnly) {
  const bson::Document index = parsed(R"({"a": 1})");
  KeySet set;
  ASSERT_TRUE(extract_keys(*rules_of(index), parsed(R"({"a": [1, 2, 5]})"), set));
  std::string two;
  bson::append_key_string(two, bson::Value(int32_t{2}), false);
  std::string three;
  bson::append_key_string(three, bson::Value(int32_t{3}), false);
  EXPECT_TRUE(set.contains(two));
  EXPECT_FALSE(set.contains(three));
}

}  // namespace
}  // namespace gridmount::local
