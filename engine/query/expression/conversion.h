// Values converted to other types, as $convert does it. Internal to this folder.
// Source: MongoDB manual, "$convert".
#pragma once

#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

// `value` is not nullish. ConversionFailure for what cannot be converted; another error is one that
// $convert's onError does not catch.
Evaluated convert(EvaluationContext& context, bson::ValueView value, bson::Type target);

// What $convert says of types between which there is no conversion.
tl::unexpected<Error> refuse_conversion(std::string_view from, std::string_view to);

}  // namespace gridmount::query::expressions
