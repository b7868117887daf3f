// Parses BSON to expressions: constants, field paths, objects, arrays and calls of operators.

#include <array>
#include <cstring>
#include <unordered_set>

#include "engine/query/expression/field_path.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kNotOneField{15983};
constexpr ErrorCode kWrongNumberOfArguments{16020};
constexpr ErrorCode kDuplicateField{16406};
constexpr ErrorCode kNumberOfArgumentsOutOfRange{28667};

class Constant final : public Expression {
 public:
  explicit Constant(const MaybeValue& value) {
    if (value) value_ = bson::Value(*value);
  }

  Evaluated evaluate(EvaluationContext&) const override { return constant(); }
  MaybeValue constant() const override {
    return value_ ? MaybeValue(value_->view()) : std::nullopt;
  }
  void add_dependencies(std::set<std::string>&) const override {}

 private:
  std::optional<bson::Value> value_;  // nullopt means missing
};

class OperatorCall final : public Expression {
 public:
  OperatorCall(const Operator& op, std::vector<ExpressionPointer> arguments)
      : op_(op), arguments_(std::move(arguments)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    return op_.evaluate({op_, arguments_, context});
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& argument : arguments_) {
      if (argument) argument->add_dependencies(paths);
    }
  }
  void add_comparisons(std::vector<Comparison>& comparisons) const override {
    if (op_.add_comparisons != nullptr) op_.add_comparisons(arguments_, comparisons);
  }

 private:
  const Operator& op_;
  std::vector<ExpressionPointer> arguments_;
};

// {a: expression, b: expression}. A missing value leaves out its field.
class ObjectExpression final : public Expression {
 public:
  ObjectExpression(std::vector<std::string> names, std::vector<ExpressionPointer> values)
      : names_(std::move(names)), values_(std::move(values)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    ValueOutput output(context, Type::kDocument);
    for (size_t i = 0; i < names_.size(); ++i) {
      GM_ASSIGN(const MaybeValue value, values_[i]->evaluate(context));
      if (value) GM_TRY(output.append(names_[i], *value));
    }
    return output.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& value : values_) value->add_dependencies(paths);
  }

 private:
  std::vector<std::string> names_;
  std::vector<ExpressionPointer> values_;
};

// [expression, expression]. A missing element becomes null.
class ArrayExpression final : public Expression {
 public:
  explicit ArrayExpression(std::vector<ExpressionPointer> values) : values_(std::move(values)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    ValueOutput output(context, Type::kArray);
    for (const ExpressionPointer& element : values_) {
      GM_ASSIGN(const MaybeValue value, element->evaluate(context));
      GM_TRY(output.push(value ? *value : *null_value()));
    }
    return output.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& value : values_) value->add_dependencies(paths);
  }

 private:
  std::vector<ExpressionPointer> values_;
};

bool all_constant(const std::vector<ExpressionPointer>& expressions) {
  for (const ExpressionPointer& expression : expressions) {
    if (expression && !is_constant(*expression)) return false;
  }
  return true;
}

Result<ExpressionPointer> parse_object(bson::View object, ParseContext& context) {
  std::vector<std::string> names;
  std::vector<ExpressionPointer> values;
  std::unordered_set<std::string_view> known;
  for (const bson::Element field : object) {
    GM_TRY(check_field_name(field.key));
    if (!known.insert(field.key).second) {
      return fail(kDuplicateField,
                  "duplicate field name specified in object literal: " +
                      show(ValueView(Type::kDocument, object.data(), object.size())));
    }
    GM_ASSIGN(ExpressionPointer value, parse_operand(field.value, context));
    names.emplace_back(field.key);
    values.push_back(std::move(value));
  }
  const bool constant = all_constant(values);
  auto made = std::make_unique<ObjectExpression>(std::move(names), std::move(values));
  if (!constant) return made;
  return fold(std::move(made), context);
}

Result<ExpressionPointer> parse_operator(bson::View object, ParseContext& context) {
  auto field = object.begin();
  const bson::Element element = *field;
  if (++field != object.end()) {
    return fail(kNotOneField, "An object representing an expression must have exactly one field: " +
                                  show(ValueView(Type::kDocument, object.data(), object.size())));
  }
  const Operator* const op = find_operator(element.key);
  if (op == nullptr) {
    return fail(ErrorCode::kInvalidPipelineOperator,
                "Unrecognized expression '" + std::string(element.key) + "'");
  }
  return op->parse(*op, element.value, context);
}

Result<ExpressionPointer> parse_container(ValueView operand, ParseContext& context) {
  const bson::View elements = operand.as_document();
  if (operand.type() == Type::kArray) {
    GM_ASSIGN(std::vector<ExpressionPointer> values, parse_list(operand, context));
    const bool constant = all_constant(values);
    auto made = std::make_unique<ArrayExpression>(std::move(values));
    if (!constant) return made;
    return fold(std::move(made), context);
  }
  if (!elements.empty() && (*elements.begin()).key.starts_with('$')) {
    return parse_operator(elements, context);
  }
  return parse_object(elements, context);
}

}  // namespace

ExpressionPointer make_constant(const MaybeValue& value) {
  return std::make_unique<Constant>(value);
}

bool is_constant(const Expression& expression) {
  return dynamic_cast<const Constant*>(&expression) != nullptr;
}

MaybeValue constant_value(const Expression& expression) {
  return expression.constant();
}

Result<ExpressionPointer> fold(ExpressionPointer expression, ParseContext& context) {
  Arena arena;
  EvaluationContext nothing{bson::View(), {}, arena, bson::Date(), context.scope.collator().get()};
  const Evaluated value = expression->evaluate(nothing);
  if (value) return make_constant(*value);
  if (context.unreached > 0) return expression;
  return fail(value.error());
}

Result<ExpressionPointer> make_call(const Operator& op, std::vector<ExpressionPointer> arguments,
                                    ParseContext& context) {
  const bool foldable = op.is_pure && all_constant(arguments);
  auto call = std::make_unique<OperatorCall>(op, std::move(arguments));
  if (!foldable) return call;
  return fold(std::move(call), context);
}

Result<ExpressionPointer> parse_operand(ValueView operand, ParseContext& context) {
  GM_TRY(check_interruption());
  switch (operand.type()) {
    case Type::kString:
      if (!operand.as_string().starts_with('$')) return make_constant(operand);
      return parse_field_path(operand.as_string(), context);
    case Type::kDocument:
    case Type::kArray: {
      if (context.depth >= bson::kMaxDepth) {
        return fail(ErrorCode::kOverflow, "Expression exceeds maximum nested object depth: " +
                                              std::to_string(bson::kMaxDepth));
      }
      ++context.depth;
      Result<ExpressionPointer> parsed = parse_container(operand, context);
      --context.depth;
      return parsed;
    }
    default:
      return make_constant(operand);
  }
}

Result<std::vector<ExpressionPointer>> parse_list(ValueView operand, ParseContext& context) {
  std::vector<ExpressionPointer> expressions;
  if (operand.type() != Type::kArray) {
    GM_ASSIGN(ExpressionPointer only, parse_operand(operand, context));
    expressions.push_back(std::move(only));
    return expressions;
  }
  for (const bson::Element element : operand.as_document()) {
    GM_ASSIGN(ExpressionPointer expression, parse_operand(element.value, context));
    expressions.push_back(std::move(expression));
  }
  return expressions;
}

Result<ExpressionPointer> parse_arguments(const Operator& op, ValueView operand,
                                          ParseContext& context) {
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_list(operand, context));
  const size_t count = arguments.size();
  if (count < op.least || count > op.most) {
    if (op.least == op.most) {
      return fail(kWrongNumberOfArguments, "Expression " + std::string(op.name) +
                                               " takes exactly " + std::to_string(op.least) +
                                               " arguments. " + std::to_string(count) +
                                               " were passed in.");
    }
    return fail(kNumberOfArgumentsOutOfRange, "Expression " + std::string(op.name) +
                                                  " takes at least " + std::to_string(op.least) +
                                                  " arguments, and at most " +
                                                  std::to_string(op.most) + ", but " +
                                                  std::to_string(count) + " were passed in.");
  }
  return make_call(op, std::move(arguments), context);
}

Result<std::vector<MaybeValue>> read_named(const NamedArguments& named, ValueView operand) {
  if (operand.type() != Type::kDocument) {
    return fail(named.not_an_object, std::string(named.not_an_object_message));
  }
  std::vector<MaybeValue> operands(named.names.size());
  for (const bson::Element element : operand.as_document()) {
    size_t i = 0;
    while (i < named.names.size() && named.names[i] != element.key) ++i;
    if (i == named.names.size()) {
      return fail(named.unknown, std::string(named.unknown_message) + std::string(element.key));
    }
    operands[i] = element.value;
  }
  return operands;
}

Result<std::vector<ExpressionPointer>> parse_named(const std::vector<MaybeValue>& operands,
                                                   ParseContext& context) {
  std::vector<ExpressionPointer> expressions;
  for (const MaybeValue& operand : operands) {
    ExpressionPointer expression;
    if (operand) {
      GM_ASSIGN(expression, parse_operand(*operand, context));
    }
    expressions.push_back(std::move(expression));
  }
  return expressions;
}

}  // namespace gridmount::query::expressions

namespace gridmount::query {

Result<std::unique_ptr<Expression>> parse_expression(bson::ValueView value, VariableScope& scope) {
  expressions::ParseContext context{scope};
  return expressions::parse_operand(value, context);
}

bool mentions_text_score(bson::View specification) {
  for (const bson::Element element : specification) {
    if (element.key == "$meta" && element.value.type() == bson::Type::kString &&
        element.value.as_string() == "textScore") {
      return true;
    }
    const bool is_nested =
        element.value.type() == bson::Type::kDocument || element.value.type() == bson::Type::kArray;
    if (is_nested && mentions_text_score(element.value.as_document())) return true;
  }
  return false;
}

}  // namespace gridmount::query
