// Operators that treat arrays as sets. Source: MongoDB manual, "Set Expression Operators".

#include <algorithm>

#include "engine/bson/compare.h"
#include "engine/query/expression/operator.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

bool is_before(ValueView a, ValueView b) {
  return bson::compare(a, b) < 0;
}

// The number of steps that a search in a set counts as (interruption.h).
constexpr size_t kStepsOfALookUp = 1024;

// Sorted unique values. Of equal values, the first is kept.
using ValueSet = std::vector<ValueView>;

Result<ValueSet> make_set(ValueSet values) {
  GM_TRY(sort_interruptibly(values, is_before));
  const auto end = std::unique(values.begin(), values.end(),
                               [](ValueView a, ValueView b) { return bson::compare(a, b) == 0; });
  values.erase(end, values.end());
  return values;
}

Result<ValueSet> set_of(ValueView array) {
  return make_set(elements_of(array));
}

bool contains(const ValueSet& set, ValueView value) {
  return std::binary_search(set.begin(), set.end(), value, is_before);
}

Evaluated make_array(EvaluationContext& context, const ValueSet& values) {
  ValueOutput output(context, Type::kArray);
  for (const ValueView value : values) GM_TRY(output.push_element(value));
  return output.finish();
}

tl::unexpected<Error> refuse(const Call& call, int32_t code, std::string_view which,
                             const MaybeValue& value) {
  return fail(ErrorCode{code}, std::string(which == "One" ? "All" : "both") + " operands of " +
                                   call.name() + " must be arrays. " + std::string(which) +
                                   " argument is of type: " + std::string(type_name(value)));
}

Evaluated evaluate_union(const Call& call) {
  ValueSet all;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue array, call.argument(i));
    if (is_nullish(array)) return make_null();
    if (!is_type(array, Type::kArray)) return refuse(call, 17043, "One", array);
    for (const bson::Element element : array->as_document()) all.push_back(element.value);
  }
  GM_ASSIGN(const ValueSet set, make_set(std::move(all)));
  return make_array(call.context, set);
}

Evaluated evaluate_intersection(const Call& call) {
  ValueSet common;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue array, call.argument(i));
    if (is_nullish(array)) return make_null();
    if (!is_type(array, Type::kArray)) return refuse(call, 17047, "One", array);
    GM_ASSIGN(const ValueSet set, set_of(*array));
    if (i == 0) {
      common = set;
    } else {
      ValueSet both;
      for (const ValueView value : common) {
        GM_TRY(check_interruption_of(kStepsOfALookUp));
        if (contains(set, value)) both.push_back(value);
      }
      common = std::move(both);
    }
  }
  return make_array(call.context, common);
}

// The result is in the order of the first array.
Evaluated evaluate_difference(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  if (is_nullish(left) || is_nullish(right)) return make_null();
  if (!is_type(left, Type::kArray)) return refuse(call, 17048, "First", left);
  if (!is_type(right, Type::kArray)) return refuse(call, 17049, "Second", right);
  GM_ASSIGN(const ValueSet removed, set_of(*right));
  GM_ASSIGN(const ValueSet wanted, set_of(*left));
  std::vector<bool> taken(wanted.size());
  ValueSet rest;
  for (const bson::Element element : left->as_document()) {
    GM_TRY(check_interruption_of(kStepsOfALookUp));
    if (contains(removed, element.value)) continue;
    const auto place = std::lower_bound(wanted.begin(), wanted.end(), element.value, is_before);
    const auto index = static_cast<size_t>(place - wanted.begin());
    if (taken[index]) continue;
    taken[index] = true;
    rest.push_back(element.value);
  }
  return make_array(call.context, rest);
}

Evaluated evaluate_equals(const Call& call) {
  ValueSet first;
  bool equal = true;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue array, call.argument(i));
    if (!is_type(array, Type::kArray)) return refuse(call, 17044, "One", array);
    if (!equal) continue;
    GM_ASSIGN(ValueSet set, set_of(*array));
    if (i == 0) {
      first = std::move(set);
    } else {
      equal = std::equal(first.begin(), first.end(), set.begin(), set.end(),
                         [](ValueView a, ValueView b) { return bson::compare(a, b) == 0; });
    }
  }
  return give(equal);
}

Result<ExpressionPointer> parse_equals(const Operator& op, ValueView operand,
                                       ParseContext& context) {
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_list(operand, context));
  GM_TRY(
      require(arguments.size() >= 2, ErrorCode{17045},
              "$setEquals needs at least two arguments had: " + std::to_string(arguments.size())));
  return make_call(op, std::move(arguments), context);
}

Evaluated evaluate_is_subset(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  if (!is_type(left, Type::kArray)) return refuse(call, 17046, "First", left);
  if (!is_type(right, Type::kArray)) return refuse(call, 17042, "Second", right);
  GM_ASSIGN(const ValueSet set, set_of(*right));
  for (const bson::Element element : left->as_document()) {
    GM_TRY(check_interruption_of(kStepsOfALookUp));
    if (!contains(set, element.value)) return give(false);
  }
  return give(true);
}

template <bool wanted>
Evaluated evaluate_elements(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (!is_type(array, Type::kArray)) {
    return fail(
        ErrorCode{wanted ? 17041 : 17040},
        call.name() + "'s argument must be an array, but is " + std::string(type_name(array)));
  }
  for (const bson::Element element : array->as_document()) {
    if (is_true(element.value) == wanted) return give(wanted);
  }
  return give(!wanted);
}

constexpr Operator kSetOperators[] = {
    {.name = "$setUnion", .parse = parse_arguments, .evaluate = evaluate_union},
    {.name = "$setIntersection", .parse = parse_arguments, .evaluate = evaluate_intersection},
    {.name = "$setEquals", .parse = parse_equals, .evaluate = evaluate_equals},
    with_arguments("$setDifference", 2, evaluate_difference),
    with_arguments("$setIsSubset", 2, evaluate_is_subset),
    with_arguments("$anyElementTrue", 1, evaluate_elements<true>),
    with_arguments("$allElementsTrue", 1, evaluate_elements<false>),
};

}  // namespace

std::span<const Operator> set_operators() {
  return kSetOperators;
}

}  // namespace gridmount::query::expressions
