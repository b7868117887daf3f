// Parses the _id of a file from the command line.
//
// Thread-safe: a function without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::tools {

// Spaces around the text are ignored. Text that begins with '{' is Extended JSON, relaxed or
// canonical ({"$oid": ...}, {"$numberLong": ...}, a document). Empty text gives a new ObjectId. Any
// other text is a string. Fails with FailedToParse for malformed Extended JSON.
Result<bson::Value> parse_file_id(std::string_view text);

}  // namespace gridmount::tools
