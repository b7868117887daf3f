// The update operator $bit. Source: MongoDB manual, "$bit".

#include <utility>

#include "engine/query/update/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

bool is_integer(ValueView value) {
  return value.type() == Type::kInt32 || value.type() == Type::kInt64;
}

int64_t combine(std::string_view name, int64_t a, int64_t b) {
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  return a ^ b;
}

}  // namespace

Status check_bit(std::string_view, ValueView operand) {
  if (operand.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "The $bit modifier is not compatible with a " +
                                          std::string(bson::type_alias(operand.type())) +
                                          ". You must pass in an embedded document: {$bit: {field: "
                                          "{and/or/xor: #}}");
  }
  const bson::View operations = operand.as_document();
  for (const bson::Element operation : operations) {
    const std::string name(operation.key);
    std::string shown = "{";
    shown.append(show_element(name, operation.value)).append("}");
    if (name != "and" && name != "or" && name != "xor") {
      std::string message = "The $bit modifier only supports 'and', 'or', and 'xor', not '";
      message.append(name).append("' which is an unknown operator: ").append(shown);
      return fail(ErrorCode::kBadValue, std::move(message));
    }
    if (!is_integer(operation.value)) {
      return fail(ErrorCode::kBadValue,
                  "The $bit modifier field must be an Integer(32/64 bit); a '" +
                      std::string(bson::type_alias(operation.value.type())) +
                      "' is not supported here: " + shown);
    }
  }
  if (operations.empty()) {
    return fail(ErrorCode::kBadValue,
                "You must pass in at least one bitwise operation. The format is: {$bit: {field: "
                "{and/or/xor: #}}");
  }
  return {};
}

// Applies the operations in order. The result is an int64 if the field or any operand is an int64.
// A missing field counts as an int32 zero.
Result<UpdateOutcome> apply_bit(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (current && !is_integer(*current)) {
    return fail(ErrorCode::kBadValue, "Cannot apply $bit to a value of non-integral type. " +
                                          show_id(call.document) + " has the field " +
                                          std::string(call.names.back()) + " of non-integer type " +
                                          std::string(bson::type_alias(current->type())));
  }
  int64_t result = current ? *current->integral() : 0;
  bool wide = current && current->type() == Type::kInt64;
  for (const bson::Element operation : call.operand.view().as_document()) {
    result = combine(operation.key, result, *operation.value.integral());
    wide = wide || operation.value.type() == Type::kInt64;
  }
  return UpdateOutcome::set(wide ? Value(result) : Value(static_cast<int32_t>(result)));
}

}  // namespace gridmount::query
