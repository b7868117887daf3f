// The objects of Extended JSON that represent values: {"$oid": ...} and so on.
// Source: "MongoDB Extended JSON (v2)", specifications repository. These forms of version 1 are
// accepted too: {"$binary": text, "$type": text}, {"$regex": text, "$options": text} and {"$date":
// integer}.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::bson {

// Returns whether an object whose first field is `name` may represent a value.
bool begins_value(std::string_view name);

// Returns the value that the object represents, or nothing if the object is an ordinary document.
// The caller has already converted the values in `object`. Fails with FailedToParse if the object
// has the form of a value but its contents are not valid.
//
// An object may have the first field of a value but not the form of a value, for example because it
// has too many fields. Such an object is an ordinary document if it begins with $regex, $options,
// $type or $scope, because $regex and $type are query operators, too. If it begins with another of
// these fields ($oid, $date, ...), the function fails with FailedToParse.
Result<std::optional<Value>> value_of_object(View object);

}  // namespace gridmount::bson
