// A filter in the form in which servers show it in explain's parsedQuery. Each condition has an
// operator. Nested conjunctions are merged into one. $ne and similar operators become $not. The
// values of $in and $type are sorted, and conditions are in the order of the server's operators.
//
// The functions take filters that Filter::parse() accepts. Anything else is shown as written.
// Source: MongoDB manual, "Explain Results", parsedQuery, and the server's
// MatchExpression::serialize() and CanonicalQuery::sortTree().
//
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "engine/bson/document.h"

namespace gridmount::query {

// Returns the conditions that must all hold, each as a filter of its own in canonical form.
std::vector<bson::Document> conditions_of(bson::View filter);

// Returns {} for no conditions, a single condition as it is, and {$and: [...]} for several.
bson::Document conjunction_of(const std::vector<bson::Document>& conditions);

bson::Document canonical_form(bson::View filter);

// Returns the paths and operators of a canonical form without its values. It is the same for
// queries for which servers would cache one plan ("Query Shapes").
bson::Document shape_of(bson::View canonical_form);

}  // namespace gridmount::query
