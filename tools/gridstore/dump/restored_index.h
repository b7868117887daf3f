// The indexes of a dump as a store of today can have them.
// Source: mongorestore, --convertLegacyIndexes.
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "engine/bson/document.h"

namespace gridmount::tools {

// Without version and namespace, which are the old collection's, and without what is no option of
// an index: old drivers left {safe: null} there.
bson::Document current_specification(bson::View specification);

// The same with the values of its key as servers before 3.4 took them: what is no number and no
// string, 0 and "" are 1.
bson::Document with_converted_keys(bson::View specification);

// Whether both index the same fields in the same order and directions.
bool have_equal_keys(bson::View specification, bson::View other);

}  // namespace gridmount::tools
