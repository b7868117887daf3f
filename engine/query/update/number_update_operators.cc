// $inc, $mul, $min and $max. Source: MongoDB manual, "Field Update Operators".

#include "engine/bson/compare.h"
#include "engine/bson/text.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

Status check_number(std::string_view verb, std::string_view path, ValueView operand) {
  if (operand.is_number()) return {};
  return fail(ErrorCode::kTypeMismatch, "Cannot " + std::string(verb) +
                                            " with non-numeric argument: {" + std::string(path) +
                                            ": " + bson::to_text(operand) + "}");
}

// The functions of an operator for each kind of number.
struct Arithmetic {
  std::string_view name;
  bool (*integers)(int64_t, int64_t, int64_t*);  // return true if the result overflows
  double (*doubles)(double, double);
  Value (*decimals)(ValueView, ValueView);
};

// The result has the wider type of the two operands, in the order int32, int64, double, Decimal128.
// If an int32 overflows, the result is an int64.
Result<Value> calculate(const UpdateCall& call, ValueView current, const Arithmetic& arithmetic) {
  const std::string name(arithmetic.name);
  const ValueView operand = call.operand;
  if (!current.is_number()) {
    return fail(ErrorCode::kTypeMismatch,
                "Cannot apply " + name + " to a value of non-numeric type. " +
                    show_id(call.document) + " has the field '" + std::string(call.names.back()) +
                    "' of non-numeric type " + std::string(bson::type_alias(current.type())));
  }
  if (current.type() == Type::kDecimal128 || operand.type() == Type::kDecimal128) {
    return arithmetic.decimals(current, operand);
  }
  if (current.type() == Type::kDouble || operand.type() == Type::kDouble) {
    return Value(arithmetic.doubles(*current.number(), *operand.number()));
  }
  int64_t result = 0;
  if (arithmetic.integers(*current.integral(), *operand.integral(), &result)) {
    return fail(ErrorCode::kBadValue, "Failed to apply " + name + " operations to current value " +
                                          bson::to_text(current) + " for document " +
                                          show_id(call.document) +
                                          ": the result does not fit 64 bits");
  }
  const auto narrow = static_cast<int32_t>(result);
  if (current.type() == Type::kInt32 && operand.type() == Type::kInt32 && narrow == result) {
    return Value(narrow);
  }
  return Value(result);
}

// A result of the same type that compares equal leaves the field unchanged: adding 0.0 does not
// change -0.0.
Result<UpdateOutcome> change(const UpdateCall& call, ValueView current,
                             const Arithmetic& arithmetic) {
  GM_ASSIGN(Value result, calculate(call, current, arithmetic));
  if (result.type() == current.type() && bson::compare(result, current) == 0) {
    return UpdateOutcome::keep();
  }
  return UpdateOutcome::set(std::move(result));
}

bool add_integers(int64_t a, int64_t b, int64_t* result) {
  return __builtin_add_overflow(a, b, result);
}
bool multiply_integers(int64_t a, int64_t b, int64_t* result) {
  return __builtin_mul_overflow(a, b, result);
}
double add_doubles(double a, double b) {
  return a + b;
}
double multiply_doubles(double a, double b) {
  return a * b;
}

constexpr Arithmetic kIncrement{"$inc", add_integers, add_doubles, add_decimals};
constexpr Arithmetic kMultiply{"$mul", multiply_integers, multiply_doubles, multiply_decimals};

}  // namespace

Status check_increment(std::string_view path, ValueView operand) {
  return check_number("increment", path, operand);
}

Status check_multiply(std::string_view path, ValueView operand) {
  return check_number("multiply", path, operand);
}

Result<UpdateOutcome> apply_increment(const UpdateCall& call,
                                      const std::optional<ValueView>& current) {
  if (!current) return UpdateOutcome::set(call.operand);
  return change(call, *current, kIncrement);
}

Result<UpdateOutcome> apply_multiply(const UpdateCall& call,
                                     const std::optional<ValueView>& current) {
  // A missing field counts as zero. Its new value has the type of the operand.
  if (!current) {
    GM_ASSIGN(Value zero, calculate(call, Value(int32_t{0}), kMultiply));
    return UpdateOutcome::set(std::move(zero));
  }
  return change(call, *current, kMultiply);
}

Result<UpdateOutcome> apply_min(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (current && bson::compare(call.operand, *current, call.strings) >= 0)
    return UpdateOutcome::keep();
  return UpdateOutcome::set(call.operand);
}

Result<UpdateOutcome> apply_max(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (current && bson::compare(call.operand, *current, call.strings) <= 0)
    return UpdateOutcome::keep();
  return UpdateOutcome::set(call.operand);
}

}  // namespace gridmount::query
