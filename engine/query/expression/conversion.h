// Converts values to other types, as $convert does. Internal to engine/query. Thread-safety: the
// functions have no state. One thread at a time may use a context.
//
// Source: MongoDB manual, "$convert".
#pragma once

#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

// Converts a value, which must not be null, undefined or missing. Fails with ConversionFailure if
// the value cannot be converted, with Location18537 for the conversion of a date to a string if the
// year is outside 0 to 9999, and with ExceededMemoryLimit (146) if the arena is full. The caller
// must apply onError of $convert only to ConversionFailure.
Evaluated convert(EvaluationContext& context, bson::ValueView value, bson::Type target);

// Returns the error of $convert for a value of the type `from` that has no conversion to `to`.
tl::unexpected<Error> refuse_conversion(std::string_view from, std::string_view to);

}  // namespace gridmount::query::expressions
