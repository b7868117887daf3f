// Comparisons, $and, $or, $not, $cond, $ifNull and $switch. Source: MongoDB manual, "Comparison",
// "Boolean" and "Conditional Expression Operators".

#include <array>

#include "engine/bson/compare.h"
#include "engine/query/expression/field_path.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

Result<std::weak_ordering> compare_arguments(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  return compare_expression_values(left, right, call.context.strings);
}

Evaluated evaluate_cmp(const Call& call) {
  GM_ASSIGN(const std::weak_ordering order, compare_arguments(call));
  return give(call.context, int32_t{order < 0 ? -1 : order > 0 ? 1 : 0});
}

// Returns the comparison with its operands exchanged: 5 > a is a < 5.
Comparison::Kind mirrored(Comparison::Kind kind) {
  switch (kind) {
    case Comparison::Kind::kLess:
      return Comparison::Kind::kGreater;
    case Comparison::Kind::kLessEqual:
      return Comparison::Kind::kGreaterEqual;
    case Comparison::Kind::kGreater:
      return Comparison::Kind::kLess;
    case Comparison::Kind::kGreaterEqual:
      return Comparison::Kind::kLessEqual;
    case Comparison::Kind::kEqual:
      break;
  }
  return kind;
}

template <Comparison::Kind kind>
void add_comparison(std::span<const ExpressionPointer> arguments,
                    std::vector<Comparison>& comparisons) {
  const auto field_of = [](const Expression& expression) {
    const auto* const path = dynamic_cast<const FieldPath*>(&expression);
    return path == nullptr ? std::nullopt : path->field();
  };
  const auto is_known = [](const Expression& expression) {
    const auto* const path = dynamic_cast<const FieldPath*>(&expression);
    return is_constant(expression) || (path != nullptr && path->is_variable());
  };
  const Expression& left = *arguments[0];
  const Expression& right = *arguments[1];
  if (std::optional<std::string> field = field_of(left); field && is_known(right)) {
    comparisons.push_back({kind, *std::move(field), &right});
  } else if (field = field_of(right); field && is_known(left)) {
    comparisons.push_back({mirrored(kind), *std::move(field), &left});
  }
}

void add_comparisons_of_all(std::span<const ExpressionPointer> arguments,
                            std::vector<Comparison>& comparisons) {
  for (const ExpressionPointer& argument : arguments) argument->add_comparisons(comparisons);
}

constexpr Operator comparison(std::string_view name, Evaluated (*evaluate)(const Call&),
                              void (*add)(std::span<const ExpressionPointer>,
                                          std::vector<Comparison>&)) {
  Operator op = binary(name, evaluate);
  op.add_comparisons = add;
  return op;
}

template <bool less, bool equal, bool greater>
Evaluated evaluate_comparison(const Call& call) {
  GM_ASSIGN(const std::weak_ordering order, compare_arguments(call));
  if (order < 0) return give(less);
  if (order > 0) return give(greater);
  return give(equal);
}

Evaluated evaluate_and(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (!is_true(value)) return give(false);
  }
  return give(true);
}

Evaluated evaluate_or(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (is_true(value)) return give(true);
  }
  return give(false);
}

Evaluated evaluate_not(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  return give(!is_true(value));
}

// Returns the first argument that is neither null nor missing, or else the last argument.
Evaluated evaluate_if_null(const Call& call) {
  MaybeValue value;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(value, call.argument(i));
    if (!is_nullish(value)) break;
  }
  return value;
}

Result<ExpressionPointer> parse_if_null(const Operator& op, ValueView operand,
                                        ParseContext& context) {
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_list(operand, context));
  GM_TRY(require(arguments.size() >= 2, ErrorCode{1257300},
                 "$ifNull needs at least two arguments, had: " + std::to_string(arguments.size())));
  return make_call(op, std::move(arguments), context);
}

Evaluated evaluate_cond(const Call& call) {
  GM_ASSIGN(const MaybeValue condition, call.argument(0));
  return call.argument(is_true(condition) ? 1 : 2);
}

// Parses a branch. If `reached` is false, the branch is never evaluated.
Result<ExpressionPointer> parse_branch(ValueView operand, bool reached, ParseContext& context) {
  context.unreached += reached ? 0 : 1;
  Result<ExpressionPointer> parsed = parse_operand(operand, context);
  context.unreached -= reached ? 0 : 1;
  return parsed;
}

Result<ExpressionPointer> parse_cond(const Operator& op, ValueView operand, ParseContext& context) {
  std::vector<MaybeValue> operands;
  if (operand.type() == Type::kDocument) {
    static constexpr std::array<std::string_view, 3> kNames{"if", "then", "else"};
    GM_ASSIGN(operands, read_named({.names = kNames,
                                    .not_an_object = ErrorCode::kFailedToParse,
                                    .not_an_object_message = "",
                                    .unknown = ErrorCode{17083},
                                    .unknown_message = "Unrecognized parameter to $cond: "},
                                   operand));
    GM_TRY(require(operands[0].has_value(), ErrorCode{17080}, "Missing 'if' parameter to $cond"));
    GM_TRY(require(operands[1].has_value(), ErrorCode{17081}, "Missing 'then' parameter to $cond"));
    GM_TRY(require(operands[2].has_value(), ErrorCode{17082}, "Missing 'else' parameter to $cond"));
  } else {
    size_t count = 1;
    if (operand.type() == Type::kArray) {
      for (const bson::Element element : operand.as_document()) operands.push_back(element.value);
      count = operands.size();
    }
    GM_TRY(require(count == 3, ErrorCode{16020},
                   "Expression $cond takes exactly 3 arguments. " + std::to_string(count) +
                       " were passed in."));
  }
  GM_ASSIGN(ExpressionPointer condition, parse_operand(*operands[0], context));
  const bool is_known = is_constant(*condition);
  const bool holds = is_known && is_true(constant_value(*condition));
  GM_ASSIGN(ExpressionPointer then, parse_branch(*operands[1], !is_known || holds, context));
  GM_ASSIGN(ExpressionPointer otherwise, parse_branch(*operands[2], !holds, context));
  if (is_known) return holds ? std::move(then) : std::move(otherwise);
  std::vector<ExpressionPointer> arguments;
  arguments.push_back(std::move(condition));
  arguments.push_back(std::move(then));
  arguments.push_back(std::move(otherwise));
  return make_call(op, std::move(arguments), context);
}

// The arguments are case, then, case, then, ..., default. The default may be null.
Evaluated evaluate_switch(const Call& call) {
  const size_t last = call.arguments.size() - 1;
  for (size_t i = 0; i + 1 <= last; i += 2) {
    GM_ASSIGN(const MaybeValue condition, call.argument(i));
    if (is_true(condition)) return call.argument(i + 1);
  }
  if (call.has(last)) return call.argument(last);
  return fail(ErrorCode{40066},
              "$switch could not find a matching branch for an input, and no default was "
              "specified.");
}

struct Branch {
  MaybeValue condition;
  MaybeValue then;
};

Result<Branch> read_branch(ValueView operand) {
  GM_TRY(require(
      operand.type() == Type::kDocument, ErrorCode{40062},
      "$switch expected each branch to be an object, found: " + std::string(type_name(operand))));
  static constexpr std::array<std::string_view, 2> kNames{"case", "then"};
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{40062},
                        .not_an_object_message = "",
                        .unknown = ErrorCode{40063},
                        .unknown_message = "$switch found an unknown argument to a branch: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{40064},
                 "$switch requires each branch have a 'case' expression"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{40065},
                 "$switch requires each branch have a 'then' expression."));
  return Branch{operands[0], operands[1]};
}

Result<ExpressionPointer> parse_switch(const Operator& op, ValueView operand,
                                       ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"branches", "default"};
  const std::string found =
      "$switch requires an object as an argument, found: " + std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{40060},
                        .not_an_object_message = found,
                        .unknown = ErrorCode{40067},
                        .unknown_message = "$switch found an unknown argument: "},
                       operand));
  const MaybeValue branches = operands[0];
  if (branches) {
    GM_TRY(require(
        branches->type() == Type::kArray, ErrorCode{40061},
        "$switch expected an array for 'branches', found: " + std::string(type_name(branches))));
  }
  GM_TRY(require(branches && !branches->as_document().empty(), ErrorCode{40068},
                 "$switch requires at least one branch."));
  std::vector<ExpressionPointer> arguments;
  // The call leaves out the branches that are never taken, and everything after a branch that is
  // always taken.
  ExpressionPointer otherwise;
  bool is_decided = false;
  for (const bson::Element element : branches->as_document()) {
    GM_ASSIGN(const Branch branch, read_branch(element.value));
    GM_ASSIGN(ExpressionPointer condition, parse_branch(*branch.condition, !is_decided, context));
    const bool is_known = is_constant(*condition);
    const bool holds = !is_decided && is_known && is_true(constant_value(*condition));
    const bool reached = !is_decided && (!is_known || holds);
    GM_ASSIGN(ExpressionPointer then, parse_branch(*branch.then, reached, context));
    if (!reached) continue;
    if (holds) {
      otherwise = std::move(then);
      is_decided = true;
    } else {
      arguments.push_back(std::move(condition));
      arguments.push_back(std::move(then));
    }
  }
  if (operands[1]) {
    GM_ASSIGN(ExpressionPointer by_default, parse_branch(*operands[1], !is_decided, context));
    if (!is_decided) otherwise = std::move(by_default);
  }
  if (arguments.empty()) {
    if (otherwise || context.unreached == 0) {
      GM_TRY(require(otherwise != nullptr, ErrorCode{40069},
                     "Cannot execute a switch statement where all the cases evaluate to false "
                     "without a default"));
      return otherwise;
    }
  }
  arguments.push_back(std::move(otherwise));
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kLogicalOperators[] = {
    binary("$cmp", evaluate_cmp),
    comparison("$eq", evaluate_comparison<false, true, false>,
               add_comparison<Comparison::Kind::kEqual>),
    binary("$ne", evaluate_comparison<true, false, true>),
    comparison("$gt", evaluate_comparison<false, false, true>,
               add_comparison<Comparison::Kind::kGreater>),
    comparison("$gte", evaluate_comparison<false, true, true>,
               add_comparison<Comparison::Kind::kGreaterEqual>),
    comparison("$lt", evaluate_comparison<true, false, false>,
               add_comparison<Comparison::Kind::kLess>),
    comparison("$lte", evaluate_comparison<true, true, false>,
               add_comparison<Comparison::Kind::kLessEqual>),
    {.name = "$and",
     .parse = parse_arguments,
     .evaluate = evaluate_and,
     .add_comparisons = add_comparisons_of_all},
    {.name = "$or", .parse = parse_arguments, .evaluate = evaluate_or},
    {.name = "$not", .parse = parse_arguments, .evaluate = evaluate_not, .least = 1, .most = 1},
    {.name = "$ifNull", .parse = parse_if_null, .evaluate = evaluate_if_null},
    {.name = "$cond", .parse = parse_cond, .evaluate = evaluate_cond},
    {.name = "$switch", .parse = parse_switch, .evaluate = evaluate_switch},
};

}  // namespace

std::span<const Operator> logical_operators() {
  return kLogicalOperators;
}

}  // namespace gridmount::query::expressions
