// Dates in the text form of Extended JSON.
//
// Thread-safety: a pure function.
#pragma once

#include <optional>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::bson {

// Parses a date such as "2016-05-03T12:00:00.250Z" (RFC 3339). The offset may also be written
// "+0530" or "+05". Uses at most three digits of the fraction of a second (milliseconds), and
// ignores further digits. Returns nothing if the text is anything else.
std::optional<Date> date_from_text(std::string_view text);

}  // namespace gridmount::bson
