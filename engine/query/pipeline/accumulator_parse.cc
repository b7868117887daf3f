#include <string>
#include <utility>

#include "engine/query/expression/percentile.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/basic_stages.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// The form of an accumulator's arguments.
enum class AccumulatorArguments {
  kExpression,  // {$sum: "$x"}
  kNone,        // {$count: {}}
  kInputAndN,   // {$firstN: {input: "$x", n: 3}}
  kSorted,      // {$top: {output: "$x", sortBy: {y: 1}}}
  kSortedAndN,  // {$topN: {output: "$x", sortBy: {y: 1}, n: 3}}
  kPercentile,  // {$median: {input: "$x", method: "approximate"}}
};

struct AccumulatorEntry {
  std::string_view name;
  AccumulatorArguments arguments;
  MakeAccumulator make;
};

constexpr AccumulatorEntry kAccumulators[] = {
    {"$addToSet", AccumulatorArguments::kExpression, make_add_to_set},
    {"$avg", AccumulatorArguments::kExpression, make_average},
    {"$bottom", AccumulatorArguments::kSorted, make_bottom},
    {"$bottomN", AccumulatorArguments::kSortedAndN, make_bottom_n},
    {"$count", AccumulatorArguments::kNone, make_sum},
    {"$first", AccumulatorArguments::kExpression, make_first},
    {"$firstN", AccumulatorArguments::kInputAndN, make_first_n},
    {"$last", AccumulatorArguments::kExpression, make_last},
    {"$lastN", AccumulatorArguments::kInputAndN, make_last_n},
    {"$max", AccumulatorArguments::kExpression, make_max},
    {"$maxN", AccumulatorArguments::kInputAndN, make_max_n},
    {"$median", AccumulatorArguments::kPercentile, make_median},
    {"$mergeObjects", AccumulatorArguments::kExpression, make_merge_objects},
    {"$min", AccumulatorArguments::kExpression, make_min},
    {"$minN", AccumulatorArguments::kInputAndN, make_min_n},
    {"$percentile", AccumulatorArguments::kPercentile, make_percentile},
    {"$push", AccumulatorArguments::kExpression, make_push},
    {"$stdDevPop", AccumulatorArguments::kExpression, make_deviation_population},
    {"$stdDevSamp", AccumulatorArguments::kExpression, make_deviation_sample},
    {"$sum", AccumulatorArguments::kExpression, make_sum},
    {"$top", AccumulatorArguments::kSorted, make_top},
    {"$topN", AccumulatorArguments::kSortedAndN, make_top_n},
};

const AccumulatorEntry* find_accumulator(std::string_view name) {
  for (const AccumulatorEntry& entry : kAccumulators) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

class FieldParser {
 public:
  FieldParser(AccumulatedField& field, VariableScope& scope) : field_(field), scope_(scope) {}

  Status parse(const AccumulatorEntry& entry, ValueView operand) {
    field_.make = entry.make;
    switch (entry.arguments) {
      case AccumulatorArguments::kExpression:
        if (operand.type() == Type::kArray) {
          return fail(ErrorCode{40237},
                      "The " + std::string(entry.name) + " accumulator is a unary operator");
        }
        return parse_argument(operand);
      case AccumulatorArguments::kNone:
        if (operand.type() != Type::kDocument || !operand.as_document().empty()) {
          return fail(ErrorCode::kFailedToParse, "$count takes no arguments, i.e. $count:{}");
        }
        return parse_argument(Value(int32_t{1}).view());
      case AccumulatorArguments::kInputAndN:
        return parse_input_and_n(entry, operand);
      case AccumulatorArguments::kSorted:
        return parse_sorted(entry, operand, false);
      case AccumulatorArguments::kSortedAndN:
        return parse_sorted(entry, operand, true);
      case AccumulatorArguments::kPercentile:
        return parse_percentile(entry, operand);
    }
    return {};
  }

 private:
  Status parse_argument(ValueView value) {
    GM_ASSIGN(field_.argument, parse_expression(value, scope_));
    return {};
  }

  Status parse_n(ValueView value) {
    GM_ASSIGN(field_.n, parse_expression(value, scope_));
    return {};
  }

  Status parse_input_and_n(const AccumulatorEntry& entry, ValueView operand) {
    if (operand.type() != Type::kDocument) {
      const bool extreme = entry.name == "$minN" || entry.name == "$maxN";
      return fail(ErrorCode{extreme ? 5787900 : 5787801},
                  "specification must be an object; found " + std::string(entry.name) + ": " +
                      shown(operand));
    }
    for (const bson::Element element : operand.as_document()) {
      if (element.key == "input") {
        GM_TRY(parse_argument(element.value));
      } else if (element.key == "n") {
        GM_TRY(parse_n(element.value));
      } else {
        return fail(ErrorCode{5787901},
                    "Unknown argument for 'n' operator: " + std::string(element.key));
      }
    }
    if (field_.n == nullptr) return fail(ErrorCode{5787906}, "Missing value for 'n'");
    if (field_.argument == nullptr) return fail(ErrorCode{5787907}, "Missing value for 'input'");
    return {};
  }

  Status parse_sorted(const AccumulatorEntry& entry, ValueView operand, bool with_n) {
    if (operand.type() != Type::kDocument) {
      return fail(ErrorCode{5788001}, "specification must be an object; found " +
                                          std::string(entry.name) + ": " + shown(operand));
    }
    for (const bson::Element element : operand.as_document()) {
      if (element.key == "n" && with_n) {
        GM_TRY(parse_n(element.value));
      } else if (element.key == "output") {
        GM_TRY(parse_argument(element.value));
      } else if (element.key == "sortBy") {
        if (element.value.type() != Type::kDocument) {
          return fail(ErrorCode{10065}, "invalid parameter: expected an object (sortBy)");
        }
        GM_ASSIGN(field_.sort, parse_sort_pattern(element.value, scope_.collator()));
      } else {
        return fail(ErrorCode{5788002}, "Unknown argument to " + std::string(entry.name) + " '" +
                                            std::string(element.key) + "'");
      }
    }
    if (with_n && field_.n == nullptr) return fail(ErrorCode{5788003}, "Missing value for 'n'");
    if (field_.argument == nullptr) return fail(ErrorCode{5788004}, "Missing value for 'output'");
    if (!field_.sort) return fail(ErrorCode{5788005}, "Missing value for 'sortBy'");
    return {};
  }

  Status parse_percentile(const AccumulatorEntry& entry, ValueView operand) {
    if (operand.type() != Type::kDocument) {
      return fail(ErrorCode{entry.name == "$median" ? 7436100 : 7429703},
                  "specification must be an object; found " + std::string(entry.name) + ": " +
                      shown(operand));
    }
    GM_ASSIGN(PercentileArguments arguments,
              parse_percentile_arguments(entry.name, operand, scope_));
    field_.argument = std::move(arguments.input);
    field_.shares = std::move(arguments.shares);
    return {};
  }

  AccumulatedField& field_;
  VariableScope& scope_;
};

}  // namespace

void AccumulatedField::add_needs(FieldDependencies& needs) const {
  needs.add(*argument);
  if (!sort) return;
  for (const Sort::Part& part : sort->parts()) needs.add(part.path.dotted());
}

Result<AccumulatedField> parse_accumulated_field(std::string_view field, ValueView value,
                                                 VariableScope& scope) {
  const std::string name(field);
  if (value.type() != Type::kDocument || value.as_document().empty() ||
      !(*value.as_document().begin()).key.starts_with('$')) {
    return fail(ErrorCode{40234}, "The field '" + name + "' must be an accumulator object");
  }
  if (field.find('.') != std::string_view::npos) {
    return fail(ErrorCode{40235}, "The field name '" + name + "' cannot contain '.'");
  }
  if (field.starts_with('$')) {
    return fail(ErrorCode{40236}, "The field name '" + name + "' cannot be an operator name");
  }
  auto element = value.as_document().begin();
  const bson::Element call = *element;
  if (++element != value.as_document().end()) {
    return fail(ErrorCode{40238}, "The field '" + name + "' must specify one accumulator");
  }
  const AccumulatorEntry* const entry = find_accumulator(call.key);
  if (entry == nullptr) {
    return fail(ErrorCode{15952}, "unknown group operator '" + std::string(call.key) + "'");
  }
  AccumulatedField parsed;
  parsed.field = name;
  GM_TRY(FieldParser(parsed, scope).parse(*entry, call.value));
  return parsed;
}

Result<int64_t> evaluate_n(const Expression& expression, Evaluator& evaluator) {
  GM_ASSIGN(const std::optional<ValueView> value, evaluator.evaluate(expression));
  const std::string found = value ? shown(*value) : "MISSING";
  if (!value || !value->is_number()) {
    return fail(ErrorCode{5787902}, "Value for 'n' must be of integral type, but found " + found);
  }
  const std::optional<int64_t> n = value->integral();
  if (!n) {
    return fail(ErrorCode{5787903}, "Value for 'n' must be of integral type, but found " + found);
  }
  if (*n <= 0) {
    return fail(ErrorCode{5787908}, "'n' must be greater than 0, found " + std::to_string(*n));
  }
  return *n;
}

Result<std::unique_ptr<Accumulator>> make_accumulator(const AccumulatedField& field,
                                                      Evaluator& evaluator, uint64_t bytes_max) {
  AccumulatorSettings settings;
  settings.bytes_max = bytes_max;
  settings.strings = evaluator.context().strings;
  if (field.n != nullptr) {
    GM_ASSIGN(settings.n, evaluate_n(*field.n, evaluator));
  }
  if (field.sort) settings.sort = &*field.sort;
  settings.shares = &field.shares;
  return field.make(settings);
}

}  // namespace gridmount::query
