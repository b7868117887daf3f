// Binary data converted from and to text and numbers, as $convert does it. Internal to this folder.
// Source: MongoDB manual, "$convert", the fields format, subtype and byteOrder.
#pragma once

#include "engine/query/expression/binary_text.h"
#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

// What $convert is told about the binary data.
struct BinaryForm {
  std::optional<BinaryFormat> format;
  MaybeValue subtype;  // nothing: 0
  bool is_big_endian = false;
};

// Binary data is what is converted, or what is wanted. For booleans it is not asked.
inline bool concerns_binary(bson::ValueView value, bson::Type target) {
  return target != bson::Type::kBool &&
         (value.type() == bson::Type::kBinary || target == bson::Type::kBinary);
}

// Errors as convert().
Evaluated convert_binary(EvaluationContext& context, bson::ValueView value, bson::Type target,
                         const BinaryForm& form);

}  // namespace gridmount::query::expressions
