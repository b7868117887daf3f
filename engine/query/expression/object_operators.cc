// $mergeObjects, $getField, $setField and $unsetField. Source: MongoDB manual, "Object Expression
// Operators".

#include <array>
#include <unordered_map>

#include "engine/query/expression/field_path.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// The merged fields, in the order of their first occurrence, with their latest values.
class MergedFields {
 public:
  Status merge(const MaybeValue& object) {
    if (is_nullish(object)) return {};
    if (!is_type(object, Type::kDocument)) {
      return fail(ErrorCode{40400}, "$mergeObjects requires object inputs, but input " +
                                        show(object) + " is of type " +
                                        std::string(type_name(object)));
    }
    for (const bson::Element element : object->as_document()) {
      GM_TRY(check_interruption());
      const auto [place, is_new] = places_.emplace(element.key, fields_.size());
      if (is_new) {
        fields_.push_back(element);
      } else {
        fields_[place->second].value = element.value;
      }
    }
    return {};
  }

  Evaluated make_result(EvaluationContext& context) const {
    ValueOutput output(context, Type::kDocument);
    for (const bson::Element& field : fields_) GM_TRY(output.append_field(field.key, field.value));
    return output.finish();
  }

 private:
  std::vector<bson::Element> fields_;
  std::unordered_map<std::string_view, size_t> places_;
};

// Merges the arguments or, if the only argument is an array, its elements.
Evaluated evaluate_merge(const Call& call) {
  MergedFields fields;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (call.arguments.size() == 1 && is_type(value, Type::kArray)) {
      for (const bson::Element element : value->as_document()) GM_TRY(fields.merge(element.value));
    } else {
      GM_TRY(fields.merge(value));
    }
  }
  return fields.make_result(call.context);
}

struct FieldNameCodes {
  int32_t is_path;
  int32_t not_constant;
  int32_t not_string;
};

// Checks the field's name, which must be a constant.
Status check_name_argument(const Operator& op, ValueView operand, const Expression& field,
                           const FieldNameCodes& codes) {
  if (operand.type() == Type::kString && operand.as_string().starts_with('$')) {
    const std::string path(operand.as_string());
    return fail(ErrorCode{codes.is_path},
                "'" + path +
                    "' is a field path reference which is not allowed in this context. Did you "
                    "mean {$literal: '" +
                    path + "'}?");
  }
  const std::string name(op.name);
  if (!is_constant(field)) {
    return fail(
        ErrorCode{codes.not_constant},
        name + " requires 'field' to evaluate to a constant, but got a non-constant argument");
  }
  const MaybeValue value = constant_value(field);
  if (!is_type(value, Type::kString)) {
    return fail(ErrorCode{codes.not_string},
                name + " requires 'field' to evaluate to type String, but got " +
                    std::string(type_name(value)));
  }
  if (value->as_string().find('\0') != std::string_view::npos) {
    return fail(ErrorCode{9534700}, name + ": 'field' cannot contain an embedded null byte");
  }
  return {};
}

Evaluated evaluate_get(const Call& call) {
  GM_ASSIGN(const MaybeValue field, call.argument(0));
  GM_ASSIGN(const MaybeValue input, call.argument(1));
  if (!input) return make_missing();
  if (is_nullish(input)) return make_null();
  if (!is_type(input, Type::kDocument)) return make_missing();
  return input->as_document().find(field->as_string());
}

// Parses {$getField: {field: "a", input: object}}, or {$getField: "a"} for a field of the document.
Result<ExpressionPointer> parse_get(const Operator& op, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"field", "input"};
  std::vector<MaybeValue> operands;
  const bool is_object = operand.type() == Type::kDocument;
  if (is_object && !(*operand.as_document().begin()).key.starts_with('$')) {
    GM_ASSIGN(operands, read_named({.names = kNames,
                                    .not_an_object = ErrorCode{3041701},
                                    .not_an_object_message = "",
                                    .unknown = ErrorCode{3041701},
                                    .unknown_message = "$getField found an unknown argument: "},
                                   operand));
    GM_TRY(require(operands[0].has_value(), ErrorCode{3041702},
                   "$getField requires 'field' to be specified"));
    GM_TRY(require(operands[1].has_value(), ErrorCode{3041703},
                   "$getField requires 'input' to be specified"));
  } else {
    operands = {operand, std::nullopt};
  }
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  GM_TRY(check_name_argument(op, *operands[0], *arguments[0], {5654600, 5654601, 5654602}));
  if (!arguments[1]) {
    GM_ASSIGN(arguments[1], parse_field_path("$$CURRENT", context));
  }
  return make_call(op, std::move(arguments), context);
}

// The arguments are field, input and value.
Evaluated evaluate_set(const Call& call) {
  GM_ASSIGN(const MaybeValue field, call.argument(0));
  GM_ASSIGN(const MaybeValue input, call.argument(1));
  if (is_nullish(input)) return make_null();
  if (!is_type(input, Type::kDocument)) {
    return fail(ErrorCode{4161105}, call.name() + " requires 'input' to evaluate to type Object");
  }
  GM_ASSIGN(const MaybeValue value, call.argument(2));
  const std::string_view name = field->as_string();
  ValueOutput output(call.context, Type::kDocument);
  bool is_there = false;
  for (const bson::Element element : input->as_document()) {
    if (element.key != name) {
      GM_TRY(output.append_field(element.key, element.value));
    } else if (value && !is_there) {
      GM_TRY(output.append(name, *value));
      is_there = true;
    }
  }
  if (value && !is_there) GM_TRY(output.append(name, *value));
  return output.finish();
}

template <bool is_unset>
Result<ExpressionPointer> parse_set(const Operator& op, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"field", "input", "value"};
  const std::string name(op.name);
  const std::string not_an_object = name + " only supports an object as its argument";
  const std::string unknown = name + " found an unknown argument: ";
  GM_ASSIGN(std::vector<MaybeValue> operands,
            read_named({.names = std::span(kNames).first(is_unset ? 2 : 3),
                        .not_an_object = ErrorCode{4161100},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{4161101},
                        .unknown_message = unknown},
                       operand));
  operands.resize(kNames.size());
  GM_TRY(require(operands[0].has_value(), ErrorCode{4161102},
                 name + " requires 'field' to be specified"));
  GM_TRY(require(is_unset || operands[2].has_value(), ErrorCode{4161103},
                 name + " requires 'value' to be specified"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{4161109},
                 name + " requires 'input' to be specified"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  GM_TRY(check_name_argument(op, *operands[0], *arguments[0], {4161108, 4161106, 4161107}));
  if (!arguments[2]) arguments[2] = make_constant(std::nullopt);
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kObjectOperators[] = {
    {.name = "$mergeObjects", .parse = parse_arguments, .evaluate = evaluate_merge},
    {.name = "$getField", .parse = parse_get, .evaluate = evaluate_get},
    {.name = "$setField", .parse = parse_set<false>, .evaluate = evaluate_set},
    {.name = "$unsetField", .parse = parse_set<true>, .evaluate = evaluate_set},
};

}  // namespace

std::span<const Operator> object_operators() {
  return kObjectOperators;
}

}  // namespace gridmount::query::expressions
