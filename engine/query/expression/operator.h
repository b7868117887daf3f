// The operators of expressions: what each takes and what it does with it. Internal to this folder.
// operators.cc finds them by name; each family has a table in a file of its own.
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
  // Of the expression that is being parsed.
  uint32_t depth = 0;
  // Above 0 where no one may ever look: what cannot be calculated there ({$divide: [1, 0]}) is no
  // error until someone does.
  uint32_t unreached = 0;
};

struct Operator;

// An operator's evaluation: its arguments in their order, absent ones null.
struct Call {
  const Operator& op;
  std::span<const ExpressionPointer> arguments;
  EvaluationContext& context;

  std::string name() const;
  bool has(size_t i) const { return i < arguments.size() && arguments[i] != nullptr; }
  // What the operator then does with it, other than to go through it once, has to ask the
  // interruption itself.
  Evaluated argument(size_t i) const;
};

inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

struct Operator {
  std::string_view name;
  // `operand` is what stands behind the name.
  Result<ExpressionPointer> (*parse)(const Operator& op, bson::ValueView operand,
                                     ParseContext& context);
  Evaluated (*evaluate)(const Call& call) = nullptr;
  // Of arguments, for parse_arguments.
  size_t least = 0;
  size_t most = kAnyNumber;
  // Gives the same for the same arguments: then it is evaluated at once if they are constant.
  bool is_pure = true;
};

inline Evaluated Call::argument(size_t i) const {
  Evaluated value = arguments[i]->evaluate(context);
  if (value && *value) GM_TRY(check_interruption_of((*value)->size()));
  return value;
}

inline std::string Call::name() const {
  return std::string(op.name);
}

// Null if there is none of that name.
const Operator* find_operator(std::string_view name);

// --- Parsing.

// What stands where an expression may stand.
Result<ExpressionPointer> parse_operand(bson::ValueView operand, ParseContext& context);
// The operator's `parse` for those that take [a, b, ...], or one that is no array without brackets.
Result<ExpressionPointer> parse_arguments(const Operator& op, bson::ValueView operand,
                                          ParseContext& context);
Result<std::vector<ExpressionPointer>> parse_list(bson::ValueView operand, ParseContext& context);
// "$a.b", "$$x.y".
Result<ExpressionPointer> parse_field_path(std::string_view text, ParseContext& context);

// A call of the operator with these arguments, or its value if that is known already.
Result<ExpressionPointer> make_call(const Operator& op, std::vector<ExpressionPointer> arguments,
                                    ParseContext& context);
ExpressionPointer make_constant(const MaybeValue& value);
// Whether it is one; then evaluating it needs no context that means anything.
bool is_constant(const Expression& expression);
// Evaluates what depends on nothing, and gives the constant instead.
Result<ExpressionPointer> fold(ExpressionPointer expression, ParseContext& context);
// The value of a constant, for operators that prepare something for it.
MaybeValue constant_value(const Expression& expression);

// Operators that take {name: expression, ...}. The arguments are in the order of `names`.
struct NamedArguments {
  std::span<const std::string_view> names;
  // What is wrong: not an object at all, or a name that is not among them (which is appended).
  ErrorCode not_an_object;
  std::string_view not_an_object_message;
  ErrorCode unknown;
  std::string_view unknown_message;
};
// The operands that stand there, not parsed yet.
Result<std::vector<MaybeValue>> read_named(const NamedArguments& named, bson::ValueView operand);
// Parses each that is there.
Result<std::vector<ExpressionPointer>> parse_named(const std::vector<MaybeValue>& operands,
                                                   ParseContext& context);

// "a, b" of arguments that are missing: `error` if the operand is not there.
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
