// $type, $isNumber, $bsonSize, $binarySize, $tsSecond, $tsIncrement and $rand.

#include <random>

#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

Evaluated evaluate_type(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  return give(call.context, type_name(value));
}

Evaluated evaluate_is_number(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  return give(is_number(value));
}

Evaluated evaluate_bson_size(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (is_nullish(value)) return make_null();
  if (!is_type(value, Type::kDocument)) {
    return fail(ErrorCode{31393},
                "$bsonSize requires a document input, found: " + std::string(type_name(value)));
  }
  return give(call.context, static_cast<int32_t>(value->size()));
}

Evaluated evaluate_binary_size(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (is_nullish(value)) return make_null();
  if (is_type(value, Type::kString)) {
    return give(call.context, static_cast<int32_t>(value->as_string().size()));
  }
  if (is_type(value, Type::kBinary)) {
    return give(call.context, static_cast<int32_t>(value->as_binary().size));
  }
  return fail(ErrorCode{51276}, "$binarySize requires a string or BinData argument, found: " +
                                    std::string(type_name(value)));
}

template <bool is_second>
Evaluated evaluate_timestamp_part(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (is_nullish(value)) return make_null();
  if (!is_type(value, Type::kTimestamp)) {
    return fail(ErrorCode{is_second ? 5687301 : 5687302}, " Argument to " + call.name() +
                                                              " must be a timestamp, but is " +
                                                              std::string(type_name(value)));
  }
  const bson::Timestamp timestamp = value->as_timestamp();
  return give(call.context, int64_t{is_second ? timestamp.seconds : timestamp.increment});
}

Evaluated evaluate_rand(const Call& call) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return give(call.context, std::uniform_real_distribution<double>(0, 1)(random));
}

Result<ExpressionPointer> parse_rand(const Operator& op, ValueView operand, ParseContext& context) {
  const bool is_object = operand.type() == Type::kDocument || operand.type() == Type::kArray;
  GM_TRY(require(is_object, ErrorCode{10065}, "invalid parameter: expected an object ($rand)"));
  const bool is_empty = operand.as_document().empty();
  GM_TRY(require(is_empty, ErrorCode{3040501}, "$rand does not currently accept arguments"));
  return make_call(op, {}, context);
}

constexpr Operator kTypeOperators[] = {
    unary("$type", evaluate_type),
    unary("$isNumber", evaluate_is_number),
    unary("$bsonSize", evaluate_bson_size),
    unary("$binarySize", evaluate_binary_size),
    unary("$tsSecond", evaluate_timestamp_part<true>),
    unary("$tsIncrement", evaluate_timestamp_part<false>),
    {.name = "$rand", .parse = parse_rand, .evaluate = evaluate_rand, .is_pure = false},
};

}  // namespace

std::span<const Operator> type_operators() {
  return kTypeOperators;
}

}  // namespace gridmount::query::expressions
