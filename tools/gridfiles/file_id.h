// The _id of a file as a command line gives it.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::tools {

// Spaces around it do not count. Text beginning with '{' is Extended JSON, relaxed or canonical
// ({"$oid": ...}, {"$numberLong": ...}, a document); nothing at all is a new ObjectId; anything
// else is a string. FailedToParse.
Result<bson::Value> parse_file_id(std::string_view text);

}  // namespace gridmount::tools
