// What a document has to be like to replace another. Internal to this folder.
// Source: MongoDB manual, "Field Names with Periods and Dollar Signs" (since 5.0).
#pragma once

#include "engine/bson/document.h"
#include "engine/error.h"

namespace gridmount::query {

// Dots are allowed in names, and '$' in front of them below the top level. At the top only a DBRef
// ($ref, $id, then perhaps $db) has it: DollarPrefixedFieldName, InvalidDBRef.
Status check_replacement(bson::View document);

}  // namespace gridmount::query
