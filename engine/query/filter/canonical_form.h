// Converts a filter to the form that servers show as parsedQuery in explanations. In this form each
// condition has an operator, nested conjunctions are merged into one, and $ne and similar operators
// are replaced by $not. The values of $in are sorted and have no duplicates, with regular
// expressions last. A name in $type becomes the number of the type, except "number". The conditions
// are in the order in which servers sort operators.
//
// The functions take filters that Filter::parse() accepts. For other documents, the results are
// unspecified. Source: MongoDB manual, "Explain Results", parsedQuery, and the server's
// MatchExpression::serialize() and CanonicalQuery::sortTree().
//
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "engine/bson/document.h"

namespace gridmount::query {

// Returns the conditions of the filter's conjunction, each as a separate filter in canonical form.
std::vector<bson::Document> conditions_of(bson::View filter);

// Joins conditions: returns {} for none, the condition itself for one, and {$and: [...]} for
// several.
bson::Document conjunction_of(const std::vector<bson::Document>& conditions);

bson::Document canonical_form(bson::View filter);

// Returns the paths and operators of a canonical form, without its values. Two queries have the
// same shape if servers would cache one plan for both ("Query Shapes").
bson::Document shape_of(bson::View canonical_form);

}  // namespace gridmount::query
