// Operators that treat arrays as sets. Source: MongoDB manual, "Set Expression Operators".

#include <algorithm>

#include "engine/bson/compare.h"
#include "engine/query/expression/operator.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// The order of values in a set.
struct IsBefore {
  const bson::StringOrder* strings;
  bool operator()(ValueView a, ValueView b) const { return bson::compare(a, b, strings) < 0; }
};
struct IsSame {
  const bson::StringOrder* strings;
  bool operator()(ValueView a, ValueView b) const { return bson::compare(a, b, strings) == 0; }
};

// The number of steps that a search in a set counts as (interruption.h).
constexpr size_t kStepsOfALookUp = 1024;

// Sorted unique values. The set has the first one of equal values.
using ValueSet = std::vector<ValueView>;

Result<ValueSet> make_set(ValueSet values, const bson::StringOrder* strings) {
  GM_TRY(sort_interruptibly(values, IsBefore{strings}));
  const auto end = std::unique(values.begin(), values.end(), IsSame{strings});
  values.erase(end, values.end());
  return values;
}

Result<ValueSet> set_of(ValueView array, const bson::StringOrder* strings) {
  return make_set(elements_of(array), strings);
}

bool contains(const ValueSet& set, ValueView value, const bson::StringOrder* strings) {
  return std::binary_search(set.begin(), set.end(), value, IsBefore{strings});
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
  GM_ASSIGN(const ValueSet set, make_set(std::move(all), call.context.strings));
  return make_array(call.context, set);
}

Evaluated evaluate_intersection(const Call& call) {
  ValueSet common;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue array, call.argument(i));
    if (is_nullish(array)) return make_null();
    if (!is_type(array, Type::kArray)) return refuse(call, 17047, "One", array);
    GM_ASSIGN(ValueSet set, set_of(*array, call.context.strings));
    if (i == 0) {
      common = std::move(set);
    } else {
      // Equal values may have different types (1 and 1.0). As on servers, the result has the values
      // of the smaller set.
      if (common.size() > set.size()) common.swap(set);
      ValueSet both;
      for (const ValueView value : common) {
        GM_TRY(check_interruption_of(kStepsOfALookUp));
        if (contains(set, value, call.context.strings)) both.push_back(value);
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
  GM_ASSIGN(const ValueSet removed, set_of(*right, call.context.strings));
  GM_ASSIGN(const ValueSet wanted, set_of(*left, call.context.strings));
  std::vector<bool> taken(wanted.size());
  ValueSet rest;
  for (const bson::Element element : left->as_document()) {
    GM_TRY(check_interruption_of(kStepsOfALookUp));
    if (contains(removed, element.value, call.context.strings)) continue;
    const auto place = std::lower_bound(wanted.begin(), wanted.end(), element.value,
                                        IsBefore{call.context.strings});
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
    GM_ASSIGN(ValueSet set, set_of(*array, call.context.strings));
    if (i == 0) {
      first = std::move(set);
    } else {
      equal = std::equal(first.begin(), first.end(), set.begin(), set.end(),
                         IsSame{call.context.strings});
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
  GM_ASSIGN(const ValueSet set, set_of(*right, call.context.strings));
  for (const bson::Element element : left->as_document()) {
    GM_TRY(check_interruption_of(kStepsOfALookUp));
    if (!contains(set, element.value, call.context.strings)) return give(false);
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
