// $sum, $avg, $min, $max, $stdDevPop and $stdDevSamp over an array or over their arguments.
// Source: MongoDB manual, "Accumulators (in Other Stages)".

#include <cmath>

#include "engine/bson/compare.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/number_sum.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// Calls `take` with each element of the only argument if that is an array, else with each argument.
template <typename Take>
Status for_each_value(const Call& call, Take take) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (!value) continue;
    if (call.arguments.size() == 1 && value->type() == Type::kArray) {
      for (const bson::Element element : value->as_document()) take(element.value);
    } else {
      take(*value);
    }
  }
  return {};
}

Result<NumberSum> sum_of(const Call& call) {
  NumberSum sum;
  GM_TRY(for_each_value(call, [&](ValueView value) {
    if (value.is_number()) sum.add(value);
  }));
  return sum;
}

Evaluated evaluate_sum(const Call& call) {
  GM_ASSIGN(const NumberSum sum, sum_of(call));
  if (sum.is_decimal()) return give(call.context, sum.as_decimal());
  if (sum.type() != Type::kDouble) {
    if (const std::optional<int64_t> whole = sum.as_int64()) {
      if (sum.type() == Type::kInt64) return give(call.context, *whole);
      return give_int_or_long(call.context, *whole);
    }
  }
  return give(call.context, sum.as_double());
}

Evaluated evaluate_average(const Call& call) {
  GM_ASSIGN(const NumberSum sum, sum_of(call));
  if (sum.count() == 0) return give_null();
  const auto count = static_cast<int64_t>(sum.count());
  if (sum.is_decimal()) {
    return give(call.context, query::divide(sum.as_decimal(), to_decimal(bson::Value(count))));
  }
  return give(call.context, sum.as_double() / static_cast<double>(count));
}

template <bool greatest>
Evaluated evaluate_extreme(const Call& call) {
  MaybeValue best;
  GM_TRY(for_each_value(call, [&](ValueView value) {
    if (is_nullish(value)) return;
    if (best) {
      const auto order = bson::compare(value, *best);
      if (greatest ? order <= 0 : order >= 0) return;
    }
    best = value;
  }));
  return best ? best : null_value();
}

// Welford's way, which does not subtract large sums from each other.
template <bool is_sample>
Evaluated evaluate_deviation(const Call& call) {
  int64_t count = 0;
  double mean = 0;
  double squares = 0;
  GM_TRY(for_each_value(call, [&](ValueView value) {
    if (!value.is_number()) return;
    const double number = *value.number();
    ++count;
    const double delta = number - mean;
    mean += delta / static_cast<double>(count);
    squares += delta * (number - mean);
  }));
  const int64_t divisor = is_sample ? count - 1 : count;
  if (divisor <= 0 || !std::isfinite(squares)) return give_null();
  return give(call.context, std::sqrt(squares / static_cast<double>(divisor)));
}

constexpr Operator variadic(std::string_view name, Evaluated (*evaluate)(const Call&)) {
  return {.name = name, .parse = parse_arguments, .evaluate = evaluate};
}

constexpr Operator kOperators[] = {
    variadic("$sum", evaluate_sum),
    variadic("$avg", evaluate_average),
    variadic("$min", evaluate_extreme<false>),
    variadic("$max", evaluate_extreme<true>),
    variadic("$stdDevPop", evaluate_deviation<false>),
    variadic("$stdDevSamp", evaluate_deviation<true>),
};

}  // namespace

std::span<const Operator> accumulator_operators() {
  return kOperators;
}

}  // namespace gridmount::query::expressions
