#include <string>
#include <unordered_map>

#include "engine/query/expression/evaluation.h"
#include "engine/query/expression/operator.h"
#include "engine/query/sort.h"

namespace gridmount::query::expressions {
namespace {

constexpr ErrorCode kNoScripting{31264};

// Servers without a script engine return the same message.
Result<ExpressionPointer> refuse_script(const Operator& op, bson::ValueView, ParseContext&) {
  return fail(kNoScripting, std::string(op.name) +
                                ": Cannot run server-side javascript without the javascript engine "
                                "enabled");
}

// {$meta: "textScore"}
class TextScore : public Expression {
 public:
  Result<std::optional<bson::ValueView>> evaluate(EvaluationContext& context) const override {
    if (!context.text_score) return make_missing();
    return give(context, *context.text_score);
  }
  void add_dependencies(std::set<std::string>&) const override {}
};

Result<ExpressionPointer> parse_metadata(const Operator&, bson::ValueView operand,
                                         ParseContext& context) {
  if (operand.type() != bson::Type::kString) {
    return fail(ErrorCode{17307}, "$meta only supports string arguments");
  }
  const std::string name(operand.as_string());
  if (name == "textScore") {
    if (!context.scope.has_text_score()) return text_score_unavailable();
    return std::make_unique<TextScore>();
  }
  if (name == "geoNearDistance" || name == "geoNearPoint") {
    return fail(ErrorCode{40218}, std::string("query requires $geoNear ") +
                                      (name == "geoNearPoint" ? "point" : "distance") +
                                      " metadata, but it is not available");
  }
  // Only servers with Atlas Search have these metadata. On other servers, the value is missing.
  if (name == "searchScore" || name == "searchHighlights") return make_constant({});
  for (const std::string_view known : {"indexKey", "randVal", "recordId", "sortKey"}) {
    if (name != known) continue;
    return fail(ErrorCode::kCommandNotSupported, "the metadata '" + name + "' is not supported");
  }
  return fail(ErrorCode{17308}, "Unsupported argument to $meta: " + name);
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
    {.name = "$meta", .parse = parse_metadata},
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
