// Names with a '$' in front in documents that updates change. Internal to this folder.
// Source: MongoDB manual, "Field Names with Periods and Dollar Signs" (since 5.0).
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// What a document has to be like to replace another. Dots are allowed in names, and '$' in front of
// them below the top level, or wherever a document is new. At the top only a DBRef ($ref, $id, then
// perhaps $db) has it: DollarPrefixedFieldName, InvalidDBRef.
Status check_replacement(bson::View document);

// The same of this one top-level field, which an operator has changed.
Status check_changed_field(bson::View document, std::string_view name);

}  // namespace gridmount::query
