// Comparisons of single fields that an expression implies: {$and: [{$eq: ["$a", 5]}, ...]} implies
// a = 5. With them a search uses an index, and only tests the expression on what it finds there.
// Internal to engine/query.
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

// Returns the comparisons that hold for every document for which the expression is true.
// `variables` are by slot. Comparisons with a value that no index can help with are left out: an
// array, undefined, a missing variable.
std::vector<FieldComparison> implied_comparisons(
    const Expression& expression, const std::vector<std::optional<bson::ValueView>>& variables,
    bson::Date now);

// Returns the comparison as a filter: {$expr: {$eq: ["$a", {$literal: 5}]}}.
bson::Document filter_of(const FieldComparison& comparison);
// Returns the comparison as a condition on its field, for the planner.
std::unique_ptr<Predicate> predicate_of(FieldComparison comparison);

}  // namespace gridmount::query
