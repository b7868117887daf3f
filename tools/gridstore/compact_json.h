// Returns the Extended JSON of documents as the MongoDB tools write it: on one line, without spaces
// between its parts. Each double has the fewest digits that give the same double when they are
// read. libbson writes spaces, and 20 digits.
//
// Thread-safe: functions without state.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/bson/json.h"

namespace gridmount::tools {

// Bytes that are not UTF-8 appear as U+FFFD, as in bson::to_json().
std::string compact_json(bson::View document, bson::JsonForm form);
std::string compact_json(bson::ValueView value, bson::JsonForm form);

// Removes the spaces and unneeded digits from a text of bson::to_json().
std::string compacted(std::string_view json);

}  // namespace gridmount::tools
