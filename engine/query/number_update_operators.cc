// $inc, $mul, $min and $max. Source: MongoDB manual, "Field Update Operators".

#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/query/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

std::string document_id(bson::View document) {
  const std::optional<ValueView> id = document.find("_id");
  return id ? "{_id: " + bson::to_json(*id, bson::JsonForm::kRelaxed) + "}" : "the new document";
}

Status check_number(std::string_view verb, std::string_view path, ValueView operand) {
  if (!operand.is_number()) {
    return fail(ErrorCode::kTypeMismatch,
                "Cannot " + std::string(verb) + " with non-numeric argument: {" +
                    std::string(path) + ": " + bson::to_json(operand, bson::JsonForm::kRelaxed) +
                    "}");
  }
  if (operand.type() == Type::kDecimal128) {
    return fail(ErrorCode::kBadValue, "Cannot " + std::string(verb) + " '" + std::string(path) +
                                          "': arithmetic with Decimal128 is not supported");
  }
  return {};
}

using Integers = bool (*)(int64_t, int64_t, int64_t*);
using Doubles = double (*)(double, double);

Result<UpdateOutcome> calculate(const UpdateCall& call, ValueView current, std::string_view name,
                                Integers integers, Doubles doubles) {
  const ValueView operand = call.operand;
  if (!current.is_number()) {
    return fail(ErrorCode::kTypeMismatch,
                "Cannot apply " + std::string(name) + " to a value of non-numeric type. " +
                    document_id(call.document) + " has the field '" + call.path +
                    "' of non-numeric type " + std::string(bson::type_alias(current.type())));
  }
  if (current.type() == Type::kDecimal128) {
    return fail(ErrorCode::kBadValue, "Cannot apply " + std::string(name) + " to the field '" +
                                          call.path + "' of " + document_id(call.document) +
                                          ": arithmetic with Decimal128 is not supported");
  }
  if (current.type() == Type::kDouble || operand.type() == Type::kDouble) {
    return UpdateOutcome::set(Value(doubles(*current.number(), *operand.number())));
  }
  int64_t result = 0;
  if (integers(*current.integral(), *operand.integral(), &result)) {
    return fail(ErrorCode::kBadValue,
                "Failed to apply " + std::string(name) + " operations to current value " +
                    bson::to_json(current, bson::JsonForm::kCanonical) + " for document " +
                    document_id(call.document) + ": the result does not fit 64 bits");
  }
  const auto narrow = static_cast<int32_t>(result);
  if (current.type() == Type::kInt32 && operand.type() == Type::kInt32 && narrow == result) {
    return UpdateOutcome::set(Value(narrow));
  }
  return UpdateOutcome::set(Value(result));
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

Value zero_of(Type type) {
  switch (type) {
    case Type::kDouble:
      return Value(0.0);
    case Type::kInt64:
      return Value(int64_t{0});
    default:
      return Value(int32_t{0});
  }
}

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
  return calculate(call, *current, "$inc", add_integers, add_doubles);
}

Result<UpdateOutcome> apply_multiply(const UpdateCall& call,
                                     const std::optional<ValueView>& current) {
  if (!current) return UpdateOutcome::set(zero_of(call.operand.type()));
  return calculate(call, *current, "$mul", multiply_integers, multiply_doubles);
}

Result<UpdateOutcome> apply_min(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (current && bson::compare(call.operand, *current) >= 0) return UpdateOutcome();
  return UpdateOutcome::set(call.operand);
}

Result<UpdateOutcome> apply_max(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (current && bson::compare(call.operand, *current) <= 0) return UpdateOutcome();
  return UpdateOutcome::set(call.operand);
}

}  // namespace gridmount::query
