// Operators on elements and parts of arrays. Source: MongoDB manual, "Array Expression Operators".

#include <algorithm>
#include <array>

#include "engine/bson/compare.h"
#include "engine/query/expression/operator.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query::expressions {
namespace {

// The number of steps that a comparison counts as (interruption.h).
constexpr size_t kStepsOfAComparison = 64;

using bson::Type;
using bson::ValueView;

size_t count_elements(ValueView array) {
  size_t count = 0;
  for (auto at = array.as_document().begin(); at != bson::View::Iterator(); ++at) ++count;
  return count;
}

MaybeValue element_at(ValueView array, size_t index) {
  for (const bson::Element element : array.as_document()) {
    if (index-- == 0) return element.value;
  }
  return std::nullopt;
}

// Returns the element at the index. A negative index counts from the end. Returns nullopt if there
// is no such element.
MaybeValue element_from(ValueView array, int64_t index) {
  if (index >= 0) return element_at(array, static_cast<size_t>(index));
  const auto count = static_cast<int64_t>(count_elements(array));
  if (-index > count) return std::nullopt;
  return element_at(array, static_cast<size_t>(count + index));
}

Evaluated slice(EvaluationContext& context, ValueView array, size_t begin, size_t end) {
  ValueOutput output(context, Type::kArray);
  size_t index = 0;
  for (const bson::Element element : array.as_document()) {
    if (index >= end) break;
    GM_TRY(check_interruption_of(kStepsOfAComparison));
    if (index >= begin) GM_TRY(output.push_element(element.value));
    ++index;
  }
  return output.finish();
}

Evaluated evaluate_element_at(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  GM_ASSIGN(const MaybeValue index, call.argument(1));
  if (is_nullish(array) || is_nullish(index)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{28689}, "$arrayElemAt's first argument must be an array, but is " +
                                      std::string(type_name(array)));
  }
  if (!is_number(index)) {
    return fail(ErrorCode{28690},
                "$arrayElemAt's second argument must be a numeric value, but is " +
                    std::string(type_name(index)));
  }
  const std::optional<int32_t> whole = whole32(index);
  if (!whole) {
    return fail(ErrorCode{28691},
                "$arrayElemAt's second argument must be representable as a 32-bit integer: " +
                    double_to_text(*index->number()));
  }
  return element_from(*array, *whole);
}

template <int index>
Evaluated evaluate_end(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (is_nullish(array)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{28689}, call.name() + "'s argument must be an array, but is " +
                                      std::string(type_name(array)));
  }
  return element_from(*array, index);
}

enum class Pick { kFirst, kLast, kLeast, kGreatest };

// $firstN, $lastN, $minN and $maxN. The arguments are n and input.
template <Pick pick>
Evaluated evaluate_pick(const Call& call) {
  GM_ASSIGN(const MaybeValue number, call.argument(0));
  const auto not_integral = [&](ErrorCode code) {
    return fail(code, "Value for 'n' must be of integral type, but found " + show(number));
  };
  if (!is_number(number)) return not_integral(ErrorCode{5787902});
  const std::optional<int64_t> n = number->integral();
  if (!n) return not_integral(ErrorCode{5787903});
  if (*n <= 0) {
    return fail(ErrorCode{5787908}, "'n' must be greater than 0, found " + std::to_string(*n));
  }
  GM_ASSIGN(const MaybeValue input, call.argument(1));
  if (!is_type(input, Type::kArray)) {
    return fail(ErrorCode{5788200}, "Input must be an array");
  }
  const auto wanted = static_cast<size_t>(*n);
  if (pick == Pick::kFirst) return slice(call.context, *input, 0, wanted);
  if (pick == Pick::kLast) {
    const size_t count = count_elements(*input);
    return slice(call.context, *input, count - std::min(count, wanted), count);
  }
  std::vector<ValueView> values;
  for (const bson::Element element : input->as_document()) {
    if (!is_nullish(element.value)) values.push_back(element.value);
  }
  const size_t kept = std::min(values.size(), wanted);
  GM_TRY(sort_interruptibly(values, [&](ValueView a, ValueView b) {
    const auto order = bson::compare(a, b, call.context.strings);
    return pick == Pick::kLeast ? order < 0 : order > 0;
  }));
  ValueOutput output(call.context, Type::kArray);
  for (size_t i = 0; i < kept; ++i) GM_TRY(output.push_element(values[i]));
  return output.finish();
}

Result<ExpressionPointer> parse_pick(const Operator& op, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"n", "input"};
  const bool by_position = op.name == "$firstN" || op.name == "$lastN";
  const std::string not_an_object =
      "specification must be an object; found " + std::string(op.name) + ": " + show(operand);
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{by_position ? 5787801 : 5787900},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{5787901},
                        .unknown_message = "Unknown argument for 'n' operator: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{5787906}, "Missing value for 'n'"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{5787907}, "Missing value for 'input'"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

Evaluated evaluate_concat_arrays(const Call& call) {
  ValueOutput output(call.context, Type::kArray);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue array, call.argument(i));
    if (is_nullish(array)) return make_null();
    if (!is_type(array, Type::kArray)) {
      return fail(ErrorCode{28664},
                  "$concatArrays only supports arrays, not " + std::string(type_name(array)));
    }
    for (const bson::Element element : array->as_document()) {
      GM_TRY(output.push_element(element.value));
    }
  }
  return output.finish();
}

Evaluated evaluate_in(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  GM_ASSIGN(const MaybeValue array, call.argument(1));
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{40081}, "$in requires an array as a second argument, found: " +
                                      std::string(type_name(array)));
  }
  for (const bson::Element element : array->as_document()) {
    GM_TRY(check_interruption_of(kStepsOfAComparison));
    if (value && bson::compare(*value, element.value, call.context.strings) == 0) return give(true);
  }
  return give(false);
}

Result<int32_t> read_index(const Call& call, size_t i, std::string_view what, int32_t otherwise) {
  if (!call.has(i)) return otherwise;
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  const std::optional<int32_t> index = whole32(value);
  if (!index) {
    return fail(ErrorCode{40096}, call.name() + "requires an integral " + std::string(what) +
                                      ", found a value of type: " + std::string(type_name(value)) +
                                      ", with value: " + show(value));
  }
  if (*index < 0) {
    return fail(ErrorCode{40097}, call.name() + " requires a nonnegative " + std::string(what) +
                                      ", found: " + show(value));
  }
  return *index;
}

Evaluated evaluate_index_of(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (is_nullish(array)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{40090}, "$indexOfArray requires an array as a first argument, found: " +
                                      std::string(type_name(array)));
  }
  GM_ASSIGN(const int32_t begin, read_index(call, 2, "starting index", 0));
  GM_ASSIGN(const int32_t end, read_index(call, 3, "ending index", INT32_MAX));
  GM_ASSIGN(const MaybeValue value, call.argument(1));
  int32_t index = 0;
  for (const bson::Element element : array->as_document()) {
    if (index >= end) break;
    GM_TRY(check_interruption_of(kStepsOfAComparison));
    if (index >= begin && value &&
        bson::compare(*value, element.value, call.context.strings) == 0) {
      return give(call.context, index);
    }
    ++index;
  }
  return give(call.context, int32_t{-1});
}

Evaluated evaluate_is_array(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  return give(is_type(value, Type::kArray));
}

Result<int32_t> read_range_number(const Call& call, size_t i, std::string_view article,
                                  std::string_view what, int32_t code) {
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  if (!is_number(value)) {
    return fail(ErrorCode{code},
                "$range requires a numeric " + std::string(what) +
                    " value, found value of type: " + std::string(type_name(value)));
  }
  const std::optional<int32_t> whole = whole32(value);
  if (whole) return *whole;
  return fail(ErrorCode{code + 1}, "$range requires " + std::string(article) + " " +
                                       std::string(what) +
                                       " value that can be represented as a 32-bit integer, found "
                                       "value: " +
                                       show(value));
}

Evaluated evaluate_range(const Call& call) {
  GM_ASSIGN(const int32_t begin, read_range_number(call, 0, "a", "starting", 34443));
  GM_ASSIGN(const int32_t end, read_range_number(call, 1, "an", "ending", 34445));
  int32_t step = 1;
  if (call.has(2)) {
    GM_ASSIGN(step, read_range_number(call, 2, "a", "step", 34447));
    if (step == 0) return fail(ErrorCode{34449}, "$range requires a non-zero step value");
  }
  ValueOutput output(call.context, Type::kArray);
  const int64_t distance = int64_t{end} - begin;
  if ((distance > 0) == (step > 0)) {
    GM_TRY(output.expect(static_cast<uint64_t>(distance / step), sizeof(int32_t)));
  }
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    const auto number = static_cast<int32_t>(i);
    GM_TRY(output.push_element(
        ValueView(Type::kInt32, reinterpret_cast<const uint8_t*>(&number), sizeof number)));
  }
  return output.finish();
}

Evaluated evaluate_reverse(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (is_nullish(array)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{34435},
                "The argument to $reverseArray must be an array, but was of "
                "type: " +
                    std::string(type_name(array)));
  }
  const std::vector<ValueView> elements = elements_of(*array);
  ValueOutput output(call.context, Type::kArray);
  for (size_t i = elements.size(); i > 0; --i) GM_TRY(output.push_element(elements[i - 1]));
  return output.finish();
}

Evaluated evaluate_size(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{17124}, "The argument to $size must be an array, but was of type: " +
                                      std::string(type_name(array)));
  }
  return make_int_or_long(call.context, static_cast<int64_t>(count_elements(*array)));
}

Evaluated evaluate_slice(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  GM_ASSIGN(const MaybeValue second, call.argument(1));
  if (is_nullish(array) || is_nullish(second)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{28724}, "First argument to $slice must be an array, but is of type: " +
                                      std::string(type_name(array)));
  }
  if (!is_number(second)) {
    return fail(ErrorCode{28725},
                "Second argument to $slice must be a numeric value, but is of type: " +
                    std::string(type_name(second)));
  }
  const std::optional<int32_t> number = whole32(second);
  if (!number) {
    return fail(ErrorCode{28726},
                "Second argument to $slice can't be represented as a 32-bit integer: " +
                    double_to_text(*second->number()));
  }
  const auto count = static_cast<int64_t>(count_elements(*array));
  int64_t begin = *number < 0 ? std::max<int64_t>(0, count + *number) : *number;
  int64_t end = count;
  if (!call.has(2)) {
    if (*number >= 0) {
      begin = 0;
      end = *number;
    }
    return slice(call.context, *array, static_cast<size_t>(begin), static_cast<size_t>(end));
  }
  GM_ASSIGN(const MaybeValue third, call.argument(2));
  if (is_nullish(third)) return make_null();
  if (!is_number(third)) {
    return fail(ErrorCode{28727}, "Third argument to $slice must be numeric, but is of type: " +
                                      std::string(type_name(third)));
  }
  const std::optional<int32_t> length = whole32(third);
  if (!length) {
    return fail(ErrorCode{28728},
                "Third argument to $slice can't be represented as a 32-bit integer: " +
                    double_to_text(*third->number()));
  }
  if (*length <= 0) {
    return fail(ErrorCode{28729},
                "Third argument to $slice must be positive: " + std::to_string(*length));
  }
  end = begin + *length;
  return slice(call.context, *array, static_cast<size_t>(begin), static_cast<size_t>(end));
}

constexpr Operator ranged(std::string_view name, size_t least, size_t most,
                          Evaluated (*evaluate)(const Call&)) {
  return {
      .name = name, .parse = parse_arguments, .evaluate = evaluate, .least = least, .most = most};
}

constexpr Operator kArrayOperators[] = {
    ranged("$arrayElemAt", 2, 2, evaluate_element_at),
    ranged("$first", 1, 1, evaluate_end<0>),
    ranged("$last", 1, 1, evaluate_end<-1>),
    {.name = "$firstN", .parse = parse_pick, .evaluate = evaluate_pick<Pick::kFirst>},
    {.name = "$lastN", .parse = parse_pick, .evaluate = evaluate_pick<Pick::kLast>},
    {.name = "$minN", .parse = parse_pick, .evaluate = evaluate_pick<Pick::kLeast>},
    {.name = "$maxN", .parse = parse_pick, .evaluate = evaluate_pick<Pick::kGreatest>},
    ranged("$concatArrays", 0, kAnyNumber, evaluate_concat_arrays),
    ranged("$in", 2, 2, evaluate_in),
    ranged("$indexOfArray", 2, 4, evaluate_index_of),
    ranged("$isArray", 1, 1, evaluate_is_array),
    ranged("$range", 2, 3, evaluate_range),
    ranged("$reverseArray", 1, 1, evaluate_reverse),
    ranged("$size", 1, 1, evaluate_size),
    ranged("$slice", 2, 3, evaluate_slice),
};

}  // namespace

std::span<const Operator> array_operators() {
  return kArrayOperators;
}

}  // namespace gridmount::query::expressions
