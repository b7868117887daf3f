// $let, $map, $filter and $reduce, the operators that declare variables. Source: MongoDB manual,
// "Variable Expression Operators" and "Array Expression Operators".

#include <array>

#include "engine/query/expression/operator.h"
#include "engine/query/interruption.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// Declares variables, and undeclares them in its destructor.
class Scope {
 public:
  explicit Scope(VariableScope& scope) : scope_(scope) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    for (size_t i = 0; i < declared_; ++i) scope_.undeclare();
  }

  Result<size_t> declare(std::string_view name) {
    Result<size_t> slot = scope_.declare(name);
    if (slot) ++declared_;
    return slot;
  }

 private:
  VariableScope& scope_;
  size_t declared_ = 0;
};

// Declares the variable that "as" names, or "this" if there is no "as". Fails if "as" is not a
// string.
Result<size_t> declare_as(Scope& scope, const MaybeValue& as) {
  if (!as) return scope.declare("this");
  return scope.declare(is_type(as, Type::kString) ? as->as_string() : std::string_view());
}

class Let final : public Expression {
 public:
  Let(std::vector<size_t> slots, std::vector<ExpressionPointer> values, ExpressionPointer in)
      : slots_(std::move(slots)), values_(std::move(values)), in_(std::move(in)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    for (size_t i = 0; i < slots_.size(); ++i) {
      GM_ASSIGN(const MaybeValue value, values_[i]->evaluate(context));
      set_variable(context, slots_[i], value);
    }
    return in_->evaluate(context);
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& value : values_) value->add_dependencies(paths);
    in_->add_dependencies(paths);
  }

 private:
  std::vector<size_t> slots_;
  std::vector<ExpressionPointer> values_;
  ExpressionPointer in_;
};

Result<ExpressionPointer> parse_let(const Operator&, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"vars", "in"};
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{16874},
                        .not_an_object_message = "$let only supports an object as its argument",
                        .unknown = ErrorCode{16875},
                        .unknown_message = "Unrecognized parameter to $let: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{16876}, "Missing 'vars' parameter to $let"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{16877}, "Missing 'in' parameter to $let"));
  GM_TRY(require(is_type(operands[0], Type::kDocument), ErrorCode{10065},
                 "invalid parameter: expected an object (vars)"));
  std::vector<ExpressionPointer> values;
  std::vector<size_t> slots;
  const bson::View variables = operands[0]->as_document();
  // The values of these variables cannot use each other.
  for (const bson::Element variable : variables) {
    GM_ASSIGN(ExpressionPointer value, parse_operand(variable.value, context));
    values.push_back(std::move(value));
  }
  Scope scope(context.scope);
  for (const bson::Element variable : variables) {
    GM_ASSIGN(const size_t slot, scope.declare(variable.key));
    slots.push_back(slot);
  }
  GM_ASSIGN(ExpressionPointer in, parse_operand(*operands[1], context));
  if (is_constant(*in)) return in;
  return std::make_unique<Let>(std::move(slots), std::move(values), std::move(in));
}

// Returns the array that $map and $filter iterate over. Returns null if it is null or missing.
Evaluated evaluate_input(const Expression& input, EvaluationContext& context, ErrorCode code,
                         std::string_view name) {
  GM_ASSIGN(const MaybeValue value, input.evaluate(context));
  if (is_nullish(value)) return make_null();
  if (value->type() == Type::kArray) return value;
  return fail(code, "input to " + std::string(name) + " must be an array not " +
                        std::string(type_name(value)));
}

class MapOperator final : public Expression {
 public:
  MapOperator(size_t slot, ExpressionPointer input, ExpressionPointer in)
      : slot_(slot), input_(std::move(input)), in_(std::move(in)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    GM_ASSIGN(const MaybeValue input, evaluate_input(*input_, context, ErrorCode{16883}, "$map"));
    if (input->type() != Type::kArray) return input;
    ValueOutput output(context, Type::kArray);
    const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
    for (const bson::Element element : input->as_document()) {
      GM_TRY(check_interruption());
      set_variable(context, slot_, element.value);
      GM_ASSIGN(const MaybeValue value, in_->evaluate(context));
      GM_TRY(output.push(value ? *value : *null_value()));
      ArenaAccess::rewind(context.arena, mark);
    }
    return output.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    input_->add_dependencies(paths);
    in_->add_dependencies(paths);
  }

 private:
  size_t slot_;
  ExpressionPointer input_;
  ExpressionPointer in_;
};

Result<ExpressionPointer> parse_map(const Operator&, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"input", "as", "in"};
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{16878},
                        .not_an_object_message = "$map only supports an object as its argument",
                        .unknown = ErrorCode{16879},
                        .unknown_message = "Unrecognized parameter to $map: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{16880}, "Missing 'input' parameter to $map"));
  GM_TRY(require(operands[2].has_value(), ErrorCode{16882}, "Missing 'in' parameter to $map"));
  GM_ASSIGN(ExpressionPointer input, parse_operand(*operands[0], context));
  Scope scope(context.scope);
  GM_ASSIGN(const size_t slot, declare_as(scope, operands[1]));
  GM_ASSIGN(ExpressionPointer in, parse_operand(*operands[2], context));
  return std::make_unique<MapOperator>(slot, std::move(input), std::move(in));
}

class FilterOperator final : public Expression {
 public:
  FilterOperator(size_t slot, ExpressionPointer input, ExpressionPointer condition,
                 ExpressionPointer limit)
      : slot_(slot),
        input_(std::move(input)),
        condition_(std::move(condition)),
        limit_(std::move(limit)) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    GM_ASSIGN(const MaybeValue input,
              evaluate_input(*input_, context, ErrorCode{28651}, "$filter"));
    if (input->type() != Type::kArray) return input;
    GM_ASSIGN(const uint32_t limit, evaluate_limit(context));
    ValueOutput output(context, Type::kArray);
    const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
    for (const bson::Element element : input->as_document()) {
      if (output.count() == limit) break;
      GM_TRY(check_interruption());
      set_variable(context, slot_, element.value);
      GM_ASSIGN(const MaybeValue value, condition_->evaluate(context));
      if (is_true(value)) GM_TRY(output.push_element(element.value));
      ArenaAccess::rewind(context.arena, mark);
    }
    return output.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    input_->add_dependencies(paths);
    condition_->add_dependencies(paths);
    if (limit_) limit_->add_dependencies(paths);
  }

 private:
  Result<uint32_t> evaluate_limit(EvaluationContext& context) const {
    if (!limit_) return UINT32_MAX;
    GM_ASSIGN(const MaybeValue value, limit_->evaluate(context));
    if (is_nullish(value)) return UINT32_MAX;
    const std::optional<int32_t> limit = whole32(value);
    if (!limit) {
      return fail(ErrorCode{327391},
                  "$filter: limit must be represented as a 32-bit integral "
                  "value: " +
                      show(value));
    }
    if (*limit <= 0) {
      return fail(ErrorCode{327392}, "$filter: limit must be greater than 0: " + show(value));
    }
    return static_cast<uint32_t>(*limit);
  }

  size_t slot_;
  ExpressionPointer input_;
  ExpressionPointer condition_;
  ExpressionPointer limit_;
};

Result<ExpressionPointer> parse_filter(const Operator&, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 4> kNames{"input", "as", "cond", "limit"};
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{28646},
                        .not_an_object_message = "$filter only supports an object as its argument",
                        .unknown = ErrorCode{28647},
                        .unknown_message = "Unrecognized parameter to $filter: "},
                       operand));
  GM_TRY(
      require(operands[0].has_value(), ErrorCode{28648}, "Missing 'input' parameter to $filter"));
  GM_TRY(require(operands[2].has_value(), ErrorCode{28650}, "Missing 'cond' parameter to $filter"));
  GM_ASSIGN(ExpressionPointer input, parse_operand(*operands[0], context));
  ExpressionPointer limit;
  if (operands[3]) {
    GM_ASSIGN(limit, parse_operand(*operands[3], context));
  }
  Scope scope(context.scope);
  GM_ASSIGN(const size_t slot, declare_as(scope, operands[1]));
  GM_ASSIGN(ExpressionPointer condition, parse_operand(*operands[2], context));
  return std::make_unique<FilterOperator>(slot, std::move(input), std::move(condition),
                                          std::move(limit));
}

class ReduceOperator final : public Expression {
 public:
  ReduceOperator(size_t element_slot, size_t value_slot, ExpressionPointer input,
                 ExpressionPointer initial, ExpressionPointer in)
      : element_slot_(element_slot),
        value_slot_(value_slot),
        input_(std::move(input)),
        initial_(std::move(initial)),
        in_(std::move(in)) {}

  // Each step discards the values that it has created, except its result. So joining n strings
  // takes the memory of the longest result, not of all results.
  Evaluated evaluate(EvaluationContext& context) const override {
    GM_ASSIGN(const MaybeValue input, input_->evaluate(context));
    if (is_nullish(input)) return make_null();
    if (input->type() != Type::kArray) {
      return fail(ErrorCode{40080},
                  "$reduce requires that 'input' be an array, found: " + show(input));
    }
    GM_ASSIGN(MaybeValue accumulated, initial_->evaluate(context));
    const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
    bson::Value kept;
    bool is_kept = false;
    HeldBytes held(context.arena);
    for (const bson::Element element : input->as_document()) {
      GM_TRY(check_interruption());
      set_variable(context, element_slot_, element.value);
      set_variable(context, value_slot_, accumulated);
      GM_ASSIGN(accumulated, in_->evaluate(context));
      if (accumulated && ArenaAccess::made_since(context.arena, mark, accumulated->data())) {
        kept = bson::Value(*accumulated);
        accumulated = kept.view();
        held.set(accumulated->size());
        is_kept = true;
      }
      ArenaAccess::rewind(context.arena, mark);
    }
    if (!is_kept || !accumulated) return accumulated;
    held.set(0);
    GM_ASSIGN(const ValueView result, context.arena.keep(*accumulated));
    return MaybeValue(result);
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    input_->add_dependencies(paths);
    initial_->add_dependencies(paths);
    in_->add_dependencies(paths);
  }

 private:
  size_t element_slot_;
  size_t value_slot_;
  ExpressionPointer input_;
  ExpressionPointer initial_;
  ExpressionPointer in_;
};

Result<ExpressionPointer> parse_reduce(const Operator&, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"input", "initialValue", "in"};
  const std::string found =
      "$reduce requires an object as an argument, found: " + std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{40075},
                        .not_an_object_message = found,
                        .unknown = ErrorCode{40076},
                        .unknown_message = "$reduce found an unknown argument: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{40077},
                 "$reduce requires 'input' to be specified"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{40078},
                 "$reduce requires 'initialValue' to be specified"));
  GM_TRY(
      require(operands[2].has_value(), ErrorCode{40079}, "$reduce requires 'in' to be specified"));
  GM_ASSIGN(ExpressionPointer input, parse_operand(*operands[0], context));
  GM_ASSIGN(ExpressionPointer initial, parse_operand(*operands[1], context));
  Scope scope(context.scope);
  GM_ASSIGN(const size_t element_slot, scope.declare("this"));
  GM_ASSIGN(const size_t value_slot, scope.declare("value"));
  GM_ASSIGN(ExpressionPointer in, parse_operand(*operands[2], context));
  return std::make_unique<ReduceOperator>(element_slot, value_slot, std::move(input),
                                          std::move(initial), std::move(in));
}

constexpr Operator kVariableOperators[] = {
    {.name = "$let", .parse = parse_let},
    {.name = "$map", .parse = parse_map},
    {.name = "$filter", .parse = parse_filter},
    {.name = "$reduce", .parse = parse_reduce},
};

}  // namespace

std::span<const Operator> variable_operators() {
  return kVariableOperators;
}

}  // namespace gridmount::query::expressions
