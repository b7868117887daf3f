// The join condition of $lookup (localField and foreignField) and of $graphLookup (connectFromField
// and connectToField). Internal to engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "$lookup" and "$graphLookup", and the server's behaviour for arrays, null
// and missing fields.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns the values of a field. For an array at the end of the path, returns each of its elements.
// An array earlier on the path stands for the documents in it.
std::vector<bson::ValueView> values_at(bson::View document, const bson::Path& path);

// Like values_at(), but returns a null if there is no value. Null also matches foreign documents
// without the field.
std::vector<bson::ValueView> local_values(bson::View document, const bson::Path& path);

// Returns the filter of the foreign documents that have one of the values.
bson::Document join_filter(const bson::Path& foreign_field,
                           const std::vector<bson::ValueView>& values);

}  // namespace gridmount::query
