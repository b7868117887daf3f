// Checks field names that begin with '$', in documents that an update changes. Internal to
// engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "Field Names with Periods and Dollar Signs" (since 5.0).
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// Checks a document that replaces an existing one. At the top level only the fields of a DBRef
// ($ref, $id, then optionally $db) may begin with '$'. Fails with DollarPrefixedFieldName or
// InvalidDBRef. Names may have dots, and below the top level they may begin with '$'. In a new
// document, names may begin with '$' at every level, so a new document needs no check.
Status check_replacement(bson::View document);

// Like check_replacement(), but checks only one top-level field, which an update operator has
// changed.
Status check_changed_field(bson::View document, std::string_view name);

}  // namespace gridmount::query
