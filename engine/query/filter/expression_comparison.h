// Finds comparisons of single fields that an expression implies: {$and: [{$eq: ["$a", 5]}, ...]}
// implies that `a` is 5. A search can use an index for a comparison, and then tests the expression
// only for the documents that the index finds. Internal to engine/query.
//
// Source: MongoDB manual, "$expr", and the index bounds in mongod's explain.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

struct FieldComparison {
  Comparison::Kind kind;
  std::string path;
  bson::Value operand;
};

// Returns the comparisons that are true for every document for which the expression is true.
// `variables` has the value of each variable at the position of its slot. Leaves out comparisons
// for which no index can be used: the operand is an array, undefined or missing, or its evaluation
// fails.
std::vector<FieldComparison> implied_comparisons(
    const Expression& expression, const std::vector<std::optional<bson::ValueView>>& variables,
    bson::Date now, const bson::StringOrder* strings);

// Returns the comparison as a filter: {$expr: {$eq: ["$a", {$literal: 5}]}}.
bson::Document filter_of(const FieldComparison& comparison);
// Returns the comparison as a condition on the field, for the planner. The condition also matches
// every document that has an array on the path.
std::unique_ptr<Predicate> predicate_of(FieldComparison comparison, const SharedCollator& collator);

}  // namespace gridmount::query
