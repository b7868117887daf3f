// Which documents $lookup's localField and foreignField bring together, and $graphLookup's
// connectFromField and connectToField. Internal to this folder.
// Source: MongoDB manual, "$lookup" and "$graphLookup", and the server's behaviour for arrays, null
// and missing fields.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// The values of a field: an array's elements each, arrays on the way standing for their documents.
std::vector<bson::ValueView> values_at(bson::View document, const bson::Path& path);

// The same; where there is none, null, which foreign documents without the field have too.
std::vector<bson::ValueView> local_values(bson::View document, const bson::Path& path);

// The filter of the foreign documents that have one of them.
bson::Document join_filter(const bson::Path& foreign_field,
                           const std::vector<bson::ValueView>& values);

}  // namespace gridmount::query
