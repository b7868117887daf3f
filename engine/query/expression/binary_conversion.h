// Converts binary data from and to text and numbers, as $convert does. Internal to engine/query.
// Thread-safety: the functions have no state. One thread at a time may use a context.
//
// Source: MongoDB manual, "$convert", the fields format, subtype and byteOrder.
#pragma once

#include "engine/query/expression/binary_text.h"
#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

inline constexpr uint8_t kUuidSubtype = 4;

// The arguments of $convert that concern binary data.
struct BinaryForm {
  std::optional<BinaryFormat> format;
  MaybeValue subtype;  // nullopt means 0
  bool is_big_endian = false;
};

// Returns whether the input or the target is binary data. Returns false for a conversion to a
// boolean, because the result of this conversion does not depend on BinaryForm.
inline bool concerns_binary(bson::ValueView value, bson::Type target) {
  return target != bson::Type::kBool &&
         (value.type() == bson::Type::kBinary || target == bson::Type::kBinary);
}

// Fails as convert() does, with 4341115 if a conversion from or to a string has no format, and with
// 4341106 to 4341108 for an invalid subtype if the target is binary data. concerns_binary() of
// `value` and `target` must be true.
Evaluated convert_binary(EvaluationContext& context, bson::ValueView value, bson::Type target,
                         const BinaryForm& form);

}  // namespace gridmount::query::expressions
