// What the objects of Extended JSON stand for that are no documents: {"$oid": ...} and the like.
// Source: "MongoDB Extended JSON (v2)", specifications repository; of version 1 {"$binary": text,
// "$type": text}, {"$regex": text, "$options": text} and {"$date": integer}.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::bson {

// Whether an object whose first name this is may stand for a value.
bool begins_value(std::string_view name);

// The value that an object stands for, nothing if it is a document. `object` was read as documents
// are, so that the values in it are values already. FailedToParse if it is neither.
Result<std::optional<Value>> value_of_object(View object);

}  // namespace gridmount::bson
