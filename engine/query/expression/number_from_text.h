// Parses numbers in strings, as $convert does. Internal to engine/query. Thread-safety: pure
// functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

// The whole text must be the number, without spaces or 0x, and the number must fit the type.
// Otherwise fails with ConversionFailure (241) and the server's message.
Result<int32_t> int32_from_text(std::string_view text);
Result<int64_t> int64_from_text(std::string_view text);
// These two also accept "inf", "Infinity" and "NaN", in upper or lower case.
Result<double> double_from_text(std::string_view text);
Result<bson::Decimal128> decimal128_from_text(std::string_view text);

}  // namespace gridmount::query::expressions
