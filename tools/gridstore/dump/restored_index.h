// Converts the indexes of a dump to the form that current stores accept.
// Source: mongorestore, --convertLegacyIndexes.
//
// Thread-safe: functions without state.
#pragma once

#include <vector>

#include "engine/bson/document.h"

namespace gridmount::tools {

// Returns the specification without the index version (v), the old namespace (ns) and unknown
// options, such as {safe: null}, which old drivers have left there.
bson::Document current_specification(bson::View specification);

// Returns the specification with the key values that servers before 3.4 assumed: 0, "", and values
// that are neither a number nor a string become 1. A number nearer to 0 than 1e-9 counts as 0, but
// becomes -1 if it is negative.
bson::Document with_converted_keys(bson::View specification);

// Returns true if both index the same fields in the same order, with equal values of the keys.
bool have_equal_keys(bson::View specification, bson::View other);

}  // namespace gridmount::tools
