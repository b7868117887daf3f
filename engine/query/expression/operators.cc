#include <string>
#include <unordered_map>

#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

constexpr ErrorCode kNoScripting{31264};

// Servers without a script engine return the same message.
Result<ExpressionPointer> refuse_script(const Operator& op, bson::ValueView, ParseContext&) {
  return fail(kNoScripting, std::string(op.name) +
                                ": Cannot run server-side javascript without the javascript engine "
                                "enabled");
}

Result<ExpressionPointer> refuse_metadata(const Operator& op, bson::ValueView, ParseContext&) {
  return fail(ErrorCode::kCommandNotSupported,
              std::string(op.name) + " is not supported: documents have no metadata");
}

Result<ExpressionPointer> parse_literal(const Operator&, bson::ValueView operand, ParseContext&) {
  return make_constant(operand);
}

// {$expr: x} is the same as x.
Result<ExpressionPointer> parse_parenthesis(const Operator&, bson::ValueView operand,
                                            ParseContext& context) {
  return parse_operand(operand, context);
}

constexpr Operator kLanguage[] = {
    {.name = "$literal", .parse = parse_literal},     {.name = "$const", .parse = parse_literal},
    {.name = "$expr", .parse = parse_parenthesis},    {.name = "$function", .parse = refuse_script},
    {.name = "$accumulator", .parse = refuse_script}, {.name = "$where", .parse = refuse_script},
    {.name = "$meta", .parse = refuse_metadata},
};

using Index = std::unordered_map<std::string_view, const Operator*>;

Index make_index() {
  Index index;
  for (const std::span<const Operator> family : {std::span<const Operator>(kLanguage),
                                                 arithmetic_operators(),
                                                 math_operators(),
                                                 trigonometry_operators(),
                                                 percentile_operators(),
                                                 bit_operators(),
                                                 accumulator_operators(),
                                                 logical_operators(),
                                                 string_operators(),
                                                 string_edit_operators(),
                                                 regex_operators(),
                                                 array_operators(),
                                                 array_shape_operators(),
                                                 variable_operators(),
                                                 set_operators(),
                                                 object_operators(),
                                                 type_operators(),
                                                 conversion_operators(),
                                                 date_part_operators(),
                                                 date_text_operators(),
                                                 date_arithmetic_operators()}) {
    for (const Operator& op : family) index.emplace(op.name, &op);
  }
  return index;
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  static const Index index = make_index();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace gridmount::query::expressions
