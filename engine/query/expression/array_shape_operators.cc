// $zip, $arrayToObject, $objectToArray and $sortArray. Source: MongoDB manual, "Array Expression
// Operators".

#include <algorithm>
#include <array>
#include <unordered_map>

#include "engine/bson/compare.h"
#include "engine/query/expression/operator.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/sort.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

class Zip final : public Expression {
 public:
  Zip(std::vector<ExpressionPointer> inputs, std::vector<ExpressionPointer> defaults, bool longest)
      : inputs_(std::move(inputs)), defaults_(std::move(defaults)), longest_(longest) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    std::vector<bson::View::Iterator> columns;
    size_t shortest = SIZE_MAX;
    size_t longest = 0;
    for (const ExpressionPointer& input : inputs_) {
      GM_ASSIGN(const MaybeValue value, input->evaluate(context));
      if (is_nullish(value)) return make_null();
      if (!is_type(value, Type::kArray)) {
        return fail(ErrorCode{34468}, "$zip found a non-array expression in input: " + show(value));
      }
      size_t count = 0;
      for (auto at = value->as_document().begin(); at != bson::View::Iterator(); ++at) ++count;
      shortest = std::min(shortest, count);
      longest = std::max(longest, count);
      columns.push_back(value->as_document().begin());
    }
    std::vector<ValueView> defaults(columns.size(), *null_value());
    for (size_t i = 0; shortest != longest && i < defaults_.size(); ++i) {
      GM_ASSIGN(const MaybeValue value, defaults_[i]->evaluate(context));
      if (value) defaults[i] = *value;
    }
    ValueOutput rows(context, Type::kArray);
    const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
    const size_t count = longest_ ? longest : shortest;
    for (size_t row = 0; row < count; ++row) {
      ValueOutput cells(context, Type::kArray);
      for (size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] == bson::View::Iterator()) {
          GM_TRY(cells.push(defaults[i]));
        } else {
          GM_TRY(cells.push((*columns[i]).value));
          ++columns[i];
        }
      }
      GM_ASSIGN(const MaybeValue cells_value, cells.finish());
      GM_TRY(rows.push(*cells_value));
      ArenaAccess::rewind(context.arena, mark);
    }
    return rows.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& input : inputs_) input->add_dependencies(paths);
    for (const ExpressionPointer& value : defaults_) value->add_dependencies(paths);
  }

 private:
  std::vector<ExpressionPointer> inputs_;
  std::vector<ExpressionPointer> defaults_;
  bool longest_;
};

Result<ExpressionPointer> parse_zip(const Operator&, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"inputs", "defaults", "useLongestLength"};
  const std::string not_an_object =
      "$zip only supports an object as an argument, found " + std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{34460},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{34464},
                        .unknown_message = "$zip found an unknown argument: "},
                       operand));
  std::array<std::vector<ExpressionPointer>, 2> lists;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!operands[i]) continue;
    GM_TRY(require(operands[i]->type() == Type::kArray, ErrorCode{34461 + static_cast<int32_t>(i)},
                   std::string(kNames[i]) + " must be an array of expressions, found " +
                       std::string(type_name(operands[i]))));
    GM_ASSIGN(lists[i], parse_list(*operands[i], context));
  }
  bool longest = false;
  if (operands[2]) {
    GM_TRY(
        require(operands[2]->type() == Type::kBool, ErrorCode{34463},
                "useLongestLength must be a bool, found " + std::string(type_name(operands[2]))));
    longest = operands[2]->as_bool();
  }
  GM_TRY(require(!lists[0].empty(), ErrorCode{34465}, "$zip requires at least one input array"));
  GM_TRY(require(longest || lists[1].empty(), ErrorCode{34466},
                 "cannot specify defaults unless useLongestLength is true"));
  GM_TRY(require(lists[1].empty() || lists[1].size() == lists[0].size(), ErrorCode{34467},
                 "defaults and inputs must have the same length"));
  return std::make_unique<Zip>(std::move(lists[0]), std::move(lists[1]), longest);
}

Evaluated evaluate_object_to_array(const Call& call) {
  GM_ASSIGN(const MaybeValue object, call.argument(0));
  if (is_nullish(object)) return make_null();
  if (!is_type(object, Type::kDocument)) {
    return fail(ErrorCode{40390}, "$objectToArray requires a document input, found: " +
                                      std::string(type_name(object)));
  }
  ValueOutput output(call.context, Type::kArray);
  const ArenaAccess::Mark mark = ArenaAccess::mark(call.context.arena);
  for (const bson::Element element : object->as_document()) {
    ValueOutput pair(call.context, Type::kDocument);
    GM_ASSIGN(const MaybeValue key, give(call.context, element.key));
    GM_TRY(pair.append("k", *key));
    GM_TRY(pair.append("v", element.value));
    GM_ASSIGN(const MaybeValue pair_value, pair.finish());
    GM_TRY(output.push(*pair_value));
    ArenaAccess::rewind(call.context.arena, mark);
  }
  return output.finish();
}

struct KeyAndValue {
  MaybeValue key;
  MaybeValue value;
};

// Reads [key, value].
Result<KeyAndValue> read_pair(ValueView element) {
  if (element.type() != Type::kArray) {
    return fail(ErrorCode{40396},
                "$arrayToObject requires a consistent input format. Elements must"
                "all be arrays or all be objects. Array was detected, now found: " +
                    std::string(type_name(element)));
  }
  const std::vector<ValueView> pair = elements_of(element);
  if (pair.size() != 2) {
    return fail(ErrorCode{40397},
                "$arrayToObject requires an array of size 2 arrays,found array of size: " +
                    std::to_string(pair.size()));
  }
  if (pair[0].type() != Type::kString) {
    return fail(ErrorCode{40395},
                "$arrayToObject requires an array of key-value pairs, where the key must be of "
                "type string. Found key type: " +
                    std::string(type_name(pair[0])));
  }
  return KeyAndValue{pair[0], pair[1]};
}

// Reads {k: key, v: value}.
Result<KeyAndValue> read_object_pair(ValueView element) {
  if (element.type() != Type::kDocument) {
    return fail(ErrorCode{40391},
                "$arrayToObject requires a consistent input format. Elements must"
                "all be arrays or all be objects. Object was detected, now found: " +
                    std::string(type_name(element)));
  }
  const bson::View object = element.as_document();
  const auto count = std::distance(object.begin(), object.end());
  if (count != 2) {
    return fail(ErrorCode{40392},
                "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of "
                "keys:" +
                    std::to_string(count));
  }
  const KeyAndValue pair{object.find("k"), object.find("v")};
  if (!pair.key || !pair.value) {
    return fail(ErrorCode{40393},
                "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both "
                "keys from: " +
                    show(element));
  }
  if (pair.key->type() != Type::kString) {
    return fail(ErrorCode{40394},
                "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' "
                "must be of type string. Found type: " +
                    std::string(type_name(pair.key)));
  }
  return pair;
}

Evaluated evaluate_array_to_object(const Call& call) {
  GM_ASSIGN(const MaybeValue array, call.argument(0));
  if (is_nullish(array)) return make_null();
  if (!is_type(array, Type::kArray)) {
    return fail(ErrorCode{40386},
                "$arrayToObject requires an array input, found: " + std::string(type_name(array)));
  }
  // A repeated key keeps its place and takes the later value.
  std::vector<std::pair<std::string_view, ValueView>> fields;
  std::unordered_map<std::string_view, size_t> places;
  MaybeValue first;
  for (const bson::Element element : array->as_document()) {
    GM_TRY(check_interruption());
    if (!first) first = element.value;
    if (first->type() != Type::kArray && first->type() != Type::kDocument) {
      return fail(ErrorCode{40398}, "Unrecognised input type format for $arrayToObject: " +
                                        std::string(type_name(first)));
    }
    GM_ASSIGN(const KeyAndValue pair, first->type() == Type::kArray
                                          ? read_pair(element.value)
                                          : read_object_pair(element.value));
    const std::string_view key = pair.key->as_string();
    if (key.find('\0') != std::string_view::npos) {
      return fail(ErrorCode{first->type() == Type::kArray ? 4940400 : 4940401},
                  "Key field cannot contain an embedded null byte");
    }
    const auto [place, is_new] = places.emplace(key, fields.size());
    if (is_new) {
      fields.emplace_back(key, *pair.value);
    } else {
      fields[place->second].second = *pair.value;
    }
  }
  ValueOutput output(call.context, Type::kDocument);
  for (const auto& [key, value] : fields) GM_TRY(output.append(key, value));
  return output.finish();
}

class SortArray final : public Expression {
 public:
  // Sorts whole values if there is no `sort`.
  SortArray(ExpressionPointer input, std::optional<Sort> sort, bool descending)
      : input_(std::move(input)), sort_(std::move(sort)), descending_(descending) {}

  Evaluated evaluate(EvaluationContext& context) const override {
    GM_ASSIGN(const MaybeValue array, input_->evaluate(context));
    if (is_nullish(array)) return make_null();
    if (!is_type(array, Type::kArray)) {
      return fail(ErrorCode{2942504},
                  "The input argument to $sortArray must be an array, but was of type: " +
                      std::string(type_name(array)));
    }
    std::vector<ValueView> elements = elements_of(*array);
    if (sort_) {
      GM_TRY(sort_by_fields(elements, context.strings));
    } else {
      GM_TRY(sort_interruptibly(elements, [&](ValueView a, ValueView b) {
        const auto order = bson::compare(a, b, context.strings);
        return descending_ ? order > 0 : order < 0;
      }));
    }
    ValueOutput output(context, Type::kArray);
    for (const ValueView element : elements) GM_TRY(output.push_element(element));
    return output.finish();
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    input_->add_dependencies(paths);
  }

 private:
  Status sort_by_fields(std::vector<ValueView>& elements, const bson::StringOrder* strings) const {
    return sort_interruptibly(elements, [&](ValueView a, ValueView b) {
      for (const Sort::Part& part : sort_->parts()) {
        const auto order =
            bson::compare(whole_value_at(a, part.path), whole_value_at(b, part.path), strings);
        if (order != 0) return part.descending ? order > 0 : order < 0;
      }
      return false;
    });
  }

  ExpressionPointer input_;
  std::optional<Sort> sort_;
  bool descending_;
};

Result<ExpressionPointer> parse_sort_array(const Operator&, ValueView operand,
                                           ParseContext& context) {
  static constexpr std::array<std::string_view, 2> kNames{"input", "sortBy"};
  const std::string not_an_object =
      "$sortArray requires an object as an argument, found: " + std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{2942500},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{2942501},
                        .unknown_message = "$sortArray found an unknown argument: "},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{2942502},
                 "$sortArray requires 'input' to be specified"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{2942503},
                 "$sortArray requires 'sortBy' to be specified"));
  GM_ASSIGN(ExpressionPointer input, parse_operand(*operands[0], context));
  std::optional<Sort> sort;
  bool descending = false;
  if (operands[1]->type() == Type::kDocument) {
    // This is stricter than other sorts: 1.5 is not a direction.
    for (const bson::Element part : operands[1]->as_document()) {
      const std::optional<int64_t> direction = part.value.integral();
      GM_TRY(require(direction == 1 || direction == -1, ErrorCode{2942505},
                     "BadValue: The sort element value must be either 1 or -1"));
    }
    GM_ASSIGN(sort, Sort::parse(operands[1]->as_document()));
  } else {
    const std::optional<int32_t> direction = whole32(operands[1]);
    GM_TRY(require(direction == 1 || direction == -1, ErrorCode{2942506},
                   "The $sort element value must be either 1 or -1"));
    descending = direction == -1;
  }
  const bool foldable = is_constant(*input);
  auto made = std::make_unique<SortArray>(std::move(input), std::move(sort), descending);
  if (!foldable) return made;
  return fold(std::move(made), context);
}

constexpr Operator kArrayShapeOperators[] = {
    {.name = "$zip", .parse = parse_zip},
    {.name = "$objectToArray",
     .parse = parse_arguments,
     .evaluate = evaluate_object_to_array,
     .least = 1,
     .most = 1},
    {.name = "$arrayToObject",
     .parse = parse_arguments,
     .evaluate = evaluate_array_to_object,
     .least = 1,
     .most = 1},
    {.name = "$sortArray", .parse = parse_sort_array},
};

}  // namespace

std::span<const Operator> array_shape_operators() {
  return kArrayShapeOperators;
}

}  // namespace gridmount::query::expressions
