// The operators of expressions. An Operator has the functions that parse and evaluate it, and the
// number of its arguments. Internal to engine/query. operators.cc finds operators by name, and each
// family of operators has a table in its own file.
//
// Thread-safety: the tables of operators are constant. A ParseContext must be used by one thread at
// a time.
#pragma once

#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/query/expression/evaluation.h"
#include "engine/query/interruption.h"

namespace gridmount::query::expressions {

using ExpressionPointer = std::unique_ptr<Expression>;

struct ParseContext {
  VariableScope& scope;
  // The depth of the expression that is being parsed.
  uint32_t depth = 0;
  // Greater than 0 while the parser is in a part of the expression that is never evaluated. In such
  // a part, a constant expression that fails ({$divide: [1, 0]}) is not an error.
  uint32_t unreached = 0;
};

struct Operator;

// One evaluation of an operator. The arguments are in the order of the operator's parameters. The
// pointer of an absent argument is null (see has()).
struct Call {
  const Operator& op;
  std::span<const ExpressionPointer> arguments;
  EvaluationContext& context;

  std::string name() const;
  bool has(size_t i) const { return i < arguments.size() && arguments[i] != nullptr; }
  // Evaluates an argument. If the argument has a value, also calls check_interruption_of()
  // (interruption.h) with the size of the value. This accounts for one pass of the operator over
  // the value. An operator that passes over the value more often must check the interruption
  // itself.
  Evaluated argument(size_t i) const;
};

inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

struct Operator {
  std::string_view name;
  // `operand` is the value of the operator's field.
  Result<ExpressionPointer> (*parse)(const Operator& op, bson::ValueView operand,
                                     ParseContext& context);
  Evaluated (*evaluate)(const Call& call) = nullptr;
  // The least and the largest number of arguments, for parse_arguments().
  size_t least = 0;
  size_t most = kAnyNumber;
  // Whether the result depends only on the arguments. If it does, and the arguments are constant,
  // the parser evaluates the operator.
  bool is_pure = true;
  // See Expression::add_comparisons(). Null if the operator implies no comparisons.
  void (*add_comparisons)(std::span<const ExpressionPointer> arguments,
                          std::vector<Comparison>& comparisons) = nullptr;
};

inline Evaluated Call::argument(size_t i) const {
  Evaluated value = arguments[i]->evaluate(context);
  if (value && *value) GM_TRY(check_interruption_of((*value)->size()));
  return value;
}

inline std::string Call::name() const {
  return std::string(op.name);
}

// Returns the operator, or null if no operator has this name.
const Operator* find_operator(std::string_view name);

// --- Parsing.

// Parses any expression.
Result<ExpressionPointer> parse_operand(bson::ValueView operand, ParseContext& context);
// The `parse` function of operators that take [a, b, ...], or a single argument without brackets if
// it is not an array.
Result<ExpressionPointer> parse_arguments(const Operator& op, bson::ValueView operand,
                                          ParseContext& context);
// Parses each element of an array. Treats any other operand as the only element of a list.
Result<std::vector<ExpressionPointer>> parse_list(bson::ValueView operand, ParseContext& context);
// Parses "$a.b" and "$$x.y".
Result<ExpressionPointer> parse_field_path(std::string_view text, ParseContext& context);

// Return an operator that takes this number of arguments and needs no special parser.
constexpr Operator with_arguments(std::string_view name, size_t count,
                                  Evaluated (*evaluate)(const Call&)) {
  return {
      .name = name, .parse = parse_arguments, .evaluate = evaluate, .least = count, .most = count};
}
constexpr Operator unary(std::string_view name, Evaluated (*evaluate)(const Call&)) {
  return with_arguments(name, 1, evaluate);
}
constexpr Operator binary(std::string_view name, Evaluated (*evaluate)(const Call&)) {
  return with_arguments(name, 2, evaluate);
}

// Returns a call of the operator with these arguments. If the operator is pure and all arguments
// are constant, returns the result of fold() for this call.
Result<ExpressionPointer> make_call(const Operator& op, std::vector<ExpressionPointer> arguments,
                                    ParseContext& context);
ExpressionPointer make_constant(const MaybeValue& value);
// Returns whether the expression is a constant. A constant can be evaluated without a valid
// context.
bool is_constant(const Expression& expression);
// Evaluates an expression that depends on nothing, and returns the result as a constant expression.
// Fails with the error of the evaluation, but returns the expression itself if
// ParseContext::unreached is greater than 0.
Result<ExpressionPointer> fold(ExpressionPointer expression, ParseContext& context);
// Returns the value of a constant expression. Operators use it to prepare their evaluation.
MaybeValue constant_value(const Expression& expression);

// The description of operators that take {name: expression, ...}. Their arguments are in the order
// of `names`.
struct NamedArguments {
  std::span<const std::string_view> names;
  // The errors for an operand that is not an object, and for a name that is not in `names`. The
  // unknown name is appended to unknown_message.
  ErrorCode not_an_object;
  std::string_view not_an_object_message;
  ErrorCode unknown;
  std::string_view unknown_message;
};
// Returns the operands in the order of `names`, without parsing them. An absent operand is nullopt.
Result<std::vector<MaybeValue>> read_named(const NamedArguments& named, bson::ValueView operand);
// Parses each operand that is present. The result has a null pointer for an absent operand.
Result<std::vector<ExpressionPointer>> parse_named(const std::vector<MaybeValue>& operands,
                                                   ParseContext& context);

// Fails if `there` is false. Used for operands that must be present.
inline Status require(bool there, ErrorCode code, std::string message) {
  if (there) return {};
  return fail(code, std::move(message));
}

// --- The families.
std::span<const Operator> arithmetic_operators();
std::span<const Operator> math_operators();
std::span<const Operator> trigonometry_operators();
std::span<const Operator> percentile_operators();
std::span<const Operator> bit_operators();
std::span<const Operator> accumulator_operators();
std::span<const Operator> logical_operators();
std::span<const Operator> string_operators();
std::span<const Operator> string_edit_operators();
std::span<const Operator> regex_operators();
std::span<const Operator> array_operators();
std::span<const Operator> array_shape_operators();
std::span<const Operator> variable_operators();
std::span<const Operator> set_operators();
std::span<const Operator> object_operators();
std::span<const Operator> type_operators();
std::span<const Operator> conversion_operators();
std::span<const Operator> date_part_operators();
std::span<const Operator> date_text_operators();
std::span<const Operator> date_arithmetic_operators();

}  // namespace gridmount::query::expressions
