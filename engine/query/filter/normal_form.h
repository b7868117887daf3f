// A filter as servers show it in explain's parsedQuery: each condition with its operator, nested
// conjunctions as one, $ne and its like as $not, $in and $type with their values in order, and
// conditions in the order of servers' operators.
// Source: MongoDB manual, "Explain Results", parsedQuery; the server's MatchExpression::serialize()
// and CanonicalQuery::sortTree().
//
// For filters that Filter::parse() takes; what it would refuse is shown as it was written.
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "engine/bson/document.h"

namespace gridmount::query {

// The conditions that must all hold, each a filter of its own in normal form.
std::vector<bson::Document> conditions_of(bson::View filter);

// {} of none, the condition itself of one, {$and: [...]} of several.
bson::Document conjunction_of(const std::vector<bson::Document>& conditions);

bson::Document normal_form(bson::View filter);

// The paths and operators of a normal form, without the values: alike for queries that a plan would
// be kept for together ("Query Shapes").
bson::Document shape_of(bson::View normal_form);

}  // namespace gridmount::query
