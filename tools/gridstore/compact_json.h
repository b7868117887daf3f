// Prints documents as the MongoDB tools do: Extended JSON on one line, without spaces between its
// parts, and each double with the fewest digits that read back as the same double. libbson prints
// spaces, and 20 digits.
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

// Shortens a text that bson::to_json() has written.
std::string compacted(std::string_view json);

}  // namespace gridmount::tools
