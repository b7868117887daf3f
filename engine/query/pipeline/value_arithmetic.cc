#include "engine/query/pipeline/value_arithmetic.h"

#include <cassert>
#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;

// Returns the expression {name: ["$$a", "$$b"]}, where `a` has slot 0 and `b` has slot 1.
std::unique_ptr<Expression> operation_named(std::string_view name) {
  VariableScope scope;
  for (const std::string_view operand : {"a", "b"}) {
    [[maybe_unused]] const Result<size_t> slot = scope.declare(operand);
    assert(slot);
  }
  bson::Builder builder;
  builder.open_array(name).push(Value("$$a").view()).push(Value("$$b").view()).close();
  const Value call(std::move(builder).finish().view());
  Result<std::unique_ptr<Expression>> parsed = parse_expression(call.view(), scope);
  assert(parsed);
  return *std::move(parsed);
}

}  // namespace

ValueArithmetic::ValueArithmetic()
    : add_(operation_named("$add")),
      subtract_(operation_named("$subtract")),
      multiply_(operation_named("$multiply")),
      divide_(operation_named("$divide")),
      evaluator_({std::nullopt, std::nullopt}, {}, nullptr) {}

Result<Value> ValueArithmetic::apply(const Expression& operation, ValueView a, ValueView b) {
  evaluator_.begin(bson::View());
  evaluator_.context().variables[0] = a;
  evaluator_.context().variables[1] = b;
  GM_ASSIGN(const std::optional<ValueView> result, evaluator_.evaluate(operation));
  return result ? Value(*result) : Value();
}

Result<Value> ValueArithmetic::add(ValueView a, ValueView b) {
  return apply(*add_, a, b);
}

Result<Value> ValueArithmetic::subtract(ValueView a, ValueView b) {
  return apply(*subtract_, a, b);
}

Result<Value> ValueArithmetic::multiply(ValueView a, ValueView b) {
  return apply(*multiply_, a, b);
}

Result<Value> ValueArithmetic::divide(ValueView a, ValueView b) {
  return apply(*divide_, a, b);
}

}  // namespace gridmount::query
