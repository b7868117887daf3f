// Goal: explain's parsedQuery reads as servers write it, and queries that differ only in their
// values have the same shape.
// Source: MongoDB manual, "Explain Results", "Query Shapes".

#include "engine/query/filter/canonical_form.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/bson/json.h"
#include "engine/query/filter/filter.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

std::string shown(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

struct Case {
  std::string filter;
  std::string normal;
};

TEST(CanonicalForm, Filters_AreShownAsServersShowThem) {
  for (const Case& one : {
           Case{"{}", "{}"},
           {R"({"a": 3})", R"({"a": {"$eq": 3}})"},
           {R"({"a": {"x": 1}})", R"({"a": {"$eq": {"x": 1}}})"},
           {R"({"b": {"$gt": 2}, "a": 3})", R"({"$and": [{"a": {"$eq": 3}}, {"b": {"$gt": 2}}]})"},
           {R"({"a": {"$gte": 1, "$lt": 5}})",
            R"({"$and": [{"a": {"$lt": 5}}, {"a": {"$gte": 1}}]})"},
           {R"({"$and": [{"a": 1}, {"$and": [{"b": 2}, {"c": 3}]}]})",
            R"({"$and": [{"a": {"$eq": 1}}, {"b": {"$eq": 2}}, {"c": {"$eq": 3}}]})"},
           {R"({"$and": [{}]})", "{}"},
           {R"({"$or": [{"a": 1}]})", R"({"a": {"$eq": 1}})"},
           {R"({"$or": [{"b": {"$lt": 1}}, {"a": 1, "c": 2}, {"a": 2}]})",
            R"({"$or": [{"$and": [{"a": {"$eq": 1}}, {"c": {"$eq": 2}}]}, {"a": {"$eq": 2}},
                        {"b": {"$lt": 1}}]})"},
           {R"({"$nor": [{"a": 1}]})", R"({"$nor": [{"a": {"$eq": 1}}]})"},
           {R"({"$or": [{}, {"a": 1}]})", R"({"$or": [{}, {"a": {"$eq": 1}}]})"},
           {R"({"a": {"$ne": 3}})", R"({"a": {"$not": {"$eq": 3}}})"},
           {R"({"a": {"$in": [3, 1, 3]}})", R"({"a": {"$in": [1, 3]}})"},
           {R"({"a": {"$in": [3]}})", R"({"a": {"$eq": 3}})"},
           {R"({"a": {"$nin": [3, 1]}})", R"({"a": {"$not": {"$in": [1, 3]}}})"},
           {R"({"a": {"$exists": 1}})", R"({"a": {"$exists": true}})"},
           {R"({"a": {"$exists": false}})", R"({"a": {"$not": {"$exists": true}}})"},
           {R"({"a": {"$not": {"$gt": 3}}})", R"({"a": {"$not": {"$gt": 3}}})"},
           {R"({"a": {"$all": [1, 2]}})", R"({"$and": [{"a": {"$eq": 1}}, {"a": {"$eq": 2}}]})"},
           {R"({"a": {"$elemMatch": {"x": 1, "y": {"$ne": 2}}}})",
            R"({"a": {"$elemMatch": {"$and": [{"x": {"$eq": 1}}, {"y": {"$not": {"$eq": 2}}}]}}})"},
           {R"({"a": {"$elemMatch": {"$gt": 1}}})", R"({"a": {"$elemMatch": {"$gt": 1}}})"},
           {R"({"a": {"$type": "string"}})", R"({"a": {"$type": [2]}})"},
           {R"({"a": 1, "$comment": "why"})", R"({"a": {"$eq": 1}})"},
           {R"({"$expr": {"$gt": ["$a", 1]}})", R"({"$expr": {"$gt": ["$a", 1]}})"},
       }) {
    const bson::Document filter = parse_json(one.filter);
    EXPECT_TRUE(Filter::parse(filter)) << one.filter;
    EXPECT_EQ(shown(canonical_form(filter)), shown(parse_json(one.normal))) << one.filter;
  }
}

// The test compares texts, because the JSON parser takes {$regex, $options} for a value.
TEST(CanonicalForm, RegularExpressions_AreOperators) {
  const std::string shown_as = R"({ "a" : { "$regex" : "^x", "$options" : "i" } })";
  for (const char* const filter :
       {R"({"a": {"$regularExpression": {"pattern": "^x", "options": "i"}}})",
        R"({"a": {"$in": [{"$regularExpression": {"pattern": "^x", "options": "i"}}]}})",
        R"({"$and": [{"a": {"$regex": "^x", "$options": "i"}}]})"}) {
    EXPECT_EQ(shown(canonical_form(parse_json(filter))), shown_as) << filter;
  }
}

TEST(CanonicalForm, Shape_LeavesOutTheValues) {
  const auto shape = [](const std::string& filter) {
    return shown(shape_of(canonical_form(parse_json(filter))));
  };
  EXPECT_EQ(shape(R"({"a": 1, "b": {"$gt": "x"}})"), shape(R"({"b": {"$gt": 5}, "a": {"x": 2}})"));
  EXPECT_EQ(shape(R"({"$or": [{"a": 1}, {"b": 1}]})"), shape(R"({"$or": [{"a": 2}, {"b": 3}]})"));
  EXPECT_EQ(shape(R"({"a": {"$in": [1, 2]}})"), shape(R"({"a": {"$in": [1, 2, 3]}})"));
  EXPECT_NE(shape(R"({"a": 1})"), shape(R"({"a": {"$gt": 1}})"));
  EXPECT_NE(shape(R"({"a": 1})"), shape(R"({"b": 1})"));
  EXPECT_NE(shape(R"({"a": {"$elemMatch": {"x": 1}}})"),
            shape(R"({"a": {"$elemMatch": {"y": 1}}})"));
}

}  // namespace
}  // namespace gridmount::query
