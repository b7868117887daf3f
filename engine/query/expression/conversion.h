// Conversion of values to other types, as $convert does it. Internal to engine/query.
// Thread-safety: pure functions, apart from the context, which belongs to one thread.
//
// Source: MongoDB manual, "$convert".
#pragma once

#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

// `value` must not be nullish. Fails with ConversionFailure if the value cannot be converted.
// $convert's onError does not catch any other error.
Evaluated convert(EvaluationContext& context, bson::ValueView value, bson::Type target);

// Returns $convert's error for types between which there is no conversion.
tl::unexpected<Error> refuse_conversion(std::string_view from, std::string_view to);

}  // namespace gridmount::query::expressions
