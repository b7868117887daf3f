// $sum, $avg, $min, $max, $stdDevPop and $stdDevSamp over an array or over their arguments.
// Source: MongoDB manual, "Accumulators (in Other Stages)".

#include "engine/bson/compare.h"
#include "engine/query/expression/number_sum.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// Calls `take` with each argument. If the only argument is an array, calls `take` with each of its
// elements instead.
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

// Returns a NumberSum or NumberDeviation of the values that are numbers.
template <typename Kept>
Result<Kept> gather(const Call& call) {
  Kept kept;
  GM_TRY(for_each_value(call, [&](ValueView value) {
    if (value.is_number()) kept.add(value);
  }));
  return kept;
}

Evaluated keep(const Call& call, const bson::Value& value) {
  GM_ASSIGN(const ValueView kept, call.context.arena.keep(value));
  return MaybeValue(kept);
}

Evaluated evaluate_sum(const Call& call) {
  GM_ASSIGN(const NumberSum sum, gather<NumberSum>(call));
  return keep(call, sum.total());
}

Evaluated evaluate_average(const Call& call) {
  GM_ASSIGN(const NumberSum sum, gather<NumberSum>(call));
  const std::optional<bson::Value> average = sum.average();
  return average ? keep(call, *average) : make_null();
}

template <bool greatest>
Evaluated evaluate_extreme(const Call& call) {
  MaybeValue best;
  GM_TRY(for_each_value(call, [&](ValueView value) {
    if (is_nullish(value)) return;
    if (best) {
      const auto order = bson::compare(value, *best, call.context.strings);
      if (greatest ? order <= 0 : order >= 0) return;
    }
    best = value;
  }));
  return best ? best : null_value();
}

template <bool is_sample>
Evaluated evaluate_deviation(const Call& call) {
  GM_ASSIGN(const NumberDeviation numbers, gather<NumberDeviation>(call));
  const std::optional<double> deviation = is_sample ? numbers.of_sample() : numbers.of_population();
  return deviation ? give(call.context, *deviation) : make_null();
}

constexpr Operator variadic(std::string_view name, Evaluated (*evaluate)(const Call&)) {
  return {.name = name, .parse = parse_arguments, .evaluate = evaluate};
}

constexpr Operator kAccumulatorOperators[] = {
    variadic("$sum", evaluate_sum),
    variadic("$avg", evaluate_average),
    variadic("$min", evaluate_extreme<false>),
    variadic("$max", evaluate_extreme<true>),
    variadic("$stdDevPop", evaluate_deviation<false>),
    variadic("$stdDevSamp", evaluate_deviation<true>),
};

}  // namespace

std::span<const Operator> accumulator_operators() {
  return kAccumulatorOperators;
}

}  // namespace gridmount::query::expressions
