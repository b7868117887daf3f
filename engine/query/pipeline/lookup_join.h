// Makes the join condition of $lookup (localField and foreignField) and of $graphLookup
// (connectFromField and connectToField). Internal to engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "$lookup" and "$graphLookup", and the server's behaviour for arrays, null
// and missing fields.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns the values at a path, as views of the document. If an array is at the end of the path,
// returns its elements. If an array is earlier on the path, the path continues in each document of
// the array, or, if the next part of the path is a number, in the element at this position.
// Undefined becomes null.
std::vector<bson::ValueView> values_at(bson::View document, const bson::Path& path);

// Like values_at(), but returns one null if there is no value. A null also matches foreign
// documents without the field.
std::vector<bson::ValueView> local_values(bson::View document, const bson::Path& path);

// Returns a filter that matches the foreign documents with one of the values in `foreign_field`.
bson::Document join_filter(const bson::Path& foreign_field,
                           const std::vector<bson::ValueView>& values);

}  // namespace gridmount::query
