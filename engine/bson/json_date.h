// Dates as texts have them in Extended JSON.
// Thread-safety: a pure function.
#pragma once

#include <optional>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::bson {

// "2016-05-03T12:00:00.250Z" as RFC 3339 has it; the offset may also be written "+0530" or "+05".
// Digits of a second behind the third are left out. Nothing if the text is anything else.
std::optional<Date> date_from_text(std::string_view text);

}  // namespace gridmount::bson
