// $bitAnd, $bitOr, $bitXor and $bitNot. Source: MongoDB manual, "Bitwise Expression Operators".

#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;

enum class Kind { kAnd, kOr, kXor };

template <Kind kind>
int64_t combine(int64_t a, int64_t b) {
  switch (kind) {
    case Kind::kAnd:
      return a & b;
    case Kind::kOr:
      return a | b;
    case Kind::kXor:
      break;
  }
  return a ^ b;
}

template <Kind kind>
Evaluated evaluate_bits(const Call& call) {
  int64_t result = kind == Kind::kAnd ? -1 : 0;
  bool is_long = false;
  bool is_null = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (is_nullish(value)) {
      is_null = true;
      continue;
    }
    if (!is_type(value, Type::kInt32) && !is_type(value, Type::kInt64)) {
      return fail(ErrorCode::kTypeMismatch, call.name() + " only supports int and long operands.");
    }
    is_long = is_long || value->type() == Type::kInt64;
    result = combine<kind>(result, *value->integral());
  }
  if (is_null) return make_null();
  // Because of sign extension, the low 32 bits are the result for 32-bit operands.
  if (is_long) return give(call.context, result);
  return give(call.context, static_cast<int32_t>(result));
}

Evaluated evaluate_not(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (is_nullish(value)) return make_null();
  if (!value->is_number()) {
    return fail(ErrorCode{28765},
                "$bitNot only supports numeric types, not " + std::string(type_name(value)));
  }
  if (value->type() == Type::kInt32) return give(call.context, ~value->as_int32());
  if (value->type() == Type::kInt64) return give(call.context, ~value->as_int64());
  return fail(ErrorCode::kTypeMismatch,
              "$bitNot only supports int and long, not: " + std::string(type_name(value)) + ".");
}

constexpr Operator kBitOperators[] = {
    {.name = "$bitAnd", .parse = parse_arguments, .evaluate = evaluate_bits<Kind::kAnd>},
    {.name = "$bitOr", .parse = parse_arguments, .evaluate = evaluate_bits<Kind::kOr>},
    {.name = "$bitXor", .parse = parse_arguments, .evaluate = evaluate_bits<Kind::kXor>},
    {.name = "$bitNot", .parse = parse_arguments, .evaluate = evaluate_not, .least = 1, .most = 1},
};

}  // namespace

std::span<const Operator> bit_operators() {
  return kBitOperators;
}

}  // namespace gridmount::query::expressions
