// Numbers written in strings, as $convert reads them. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

// The whole text has to be the number: no spaces, no 0x. ConversionFailure (241) with the server's
// words otherwise. Thread-safety: pure functions.
Result<int32_t> int32_from_text(std::string_view text);
Result<int64_t> int64_from_text(std::string_view text);
// Also "inf", "Infinity" and "NaN" in any case.
Result<double> double_from_text(std::string_view text);
Result<bson::Decimal128> decimal_from_number_text(std::string_view text);

}  // namespace gridmount::query::expressions
