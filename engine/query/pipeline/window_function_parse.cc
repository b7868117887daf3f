#include <span>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using expressions::TimeUnit;
using FunctionKind = WindowFunction::Kind;

// The form of a function's specification.
enum class WindowForm {
  kExpression,     // {$sum: "$x", window: ...}
  kCount,          // {$count: {}, window: ...}
  kEnd,            // {$first: "$x", window: ...}
  kAccumulator,    // {$firstN: ..., window: ...}, with the arguments of the accumulator
  kRank,           // {$rank: {}}
  kFill,           // {$locf: "$x"}
  kLinearFill,     // {$linearFill: "$x"}
  kShift,          // {$shift: {output: "$x", by: 1, default: 0}}
  kMovingAverage,  // {$expMovingAvg: {input: "$x", N: 5}}
  kPerUnit,        // {$integral: {input: "$x", unit: "day"}, window: ...}
};

struct WindowEntry {
  std::string_view name;
  WindowForm form;
  FunctionKind kind;
  MakeWindowState growing;
  MakeWindowState sliding;
};

constexpr WindowEntry kFunctions[] = {
    {"$addToSet", WindowForm::kExpression, FunctionKind::kState, make_growing_add_to_set,
     make_sliding_add_to_set},
    {"$avg", WindowForm::kExpression, FunctionKind::kState, make_growing_average,
     make_sliding_average},
    {"$bottom", WindowForm::kAccumulator, FunctionKind::kState, make_growing_bottom,
     make_sliding_bottom},
    {"$bottomN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_bottom_n,
     make_sliding_bottom_n},
    {"$count", WindowForm::kCount, FunctionKind::kState, make_growing_sum, make_sliding_sum},
    {"$covariancePop", WindowForm::kExpression, FunctionKind::kState, make_covariance_population,
     make_covariance_population},
    {"$covarianceSamp", WindowForm::kExpression, FunctionKind::kState, make_covariance_sample,
     make_covariance_sample},
    {"$denseRank", WindowForm::kRank, FunctionKind::kState, make_dense_rank, nullptr},
    {"$derivative", WindowForm::kPerUnit, FunctionKind::kDerivative, nullptr, nullptr},
    {"$documentNumber", WindowForm::kRank, FunctionKind::kState, make_document_number, nullptr},
    {"$expMovingAvg", WindowForm::kMovingAverage, FunctionKind::kState, make_moving_average,
     nullptr},
    {"$first", WindowForm::kEnd, FunctionKind::kFirst, nullptr, nullptr},
    {"$firstN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_first_n,
     make_sliding_first_n},
    {"$integral", WindowForm::kPerUnit, FunctionKind::kState, make_integral, make_integral},
    {"$last", WindowForm::kEnd, FunctionKind::kLast, nullptr, nullptr},
    {"$lastN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_last_n,
     make_sliding_last_n},
    {"$linearFill", WindowForm::kLinearFill, FunctionKind::kLinearFill, nullptr, nullptr},
    {"$locf", WindowForm::kFill, FunctionKind::kState, make_last_observation, nullptr},
    {"$max", WindowForm::kExpression, FunctionKind::kState, make_growing_max, make_sliding_max},
    {"$maxN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_max_n,
     make_sliding_max_n},
    {"$min", WindowForm::kExpression, FunctionKind::kState, make_growing_min, make_sliding_min},
    {"$minN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_min_n,
     make_sliding_min_n},
    {"$push", WindowForm::kExpression, FunctionKind::kState, make_growing_push, make_sliding_push},
    {"$rank", WindowForm::kRank, FunctionKind::kState, make_rank, nullptr},
    {"$shift", WindowForm::kShift, FunctionKind::kFirst, nullptr, nullptr},
    {"$stdDevPop", WindowForm::kExpression, FunctionKind::kState, make_growing_deviation_population,
     make_sliding_deviation_population},
    {"$stdDevSamp", WindowForm::kExpression, FunctionKind::kState, make_growing_deviation_sample,
     make_sliding_deviation_sample},
    {"$sum", WindowForm::kExpression, FunctionKind::kState, make_growing_sum, make_sliding_sum},
    {"$top", WindowForm::kAccumulator, FunctionKind::kState, make_growing_top, make_sliding_top},
    {"$topN", WindowForm::kAccumulator, FunctionKind::kState, make_growing_top_n,
     make_sliding_top_n},
};

const WindowEntry* find_function(std::string_view name) {
  for (const WindowEntry& entry : kFunctions) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

tl::unexpected<Error> refuse_window(std::string message) {
  return fail(ErrorCode::kFailedToParse, std::move(message));
}

// Returns the length of the unit in milliseconds. Months and longer units have no fixed length.
std::optional<int64_t> length_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kWeek:
      return 7 * 86'400'000;
    case TimeUnit::kDay:
      return 86'400'000;
    case TimeUnit::kHour:
      return 3'600'000;
    case TimeUnit::kMinute:
      return 60'000;
    case TimeUnit::kSecond:
      return 1000;
    case TimeUnit::kMillisecond:
      return 1;
    default:
      return std::nullopt;
  }
}

size_t field_count(bson::View document) {
  size_t count = 0;
  for ([[maybe_unused]] const bson::Element element : document) ++count;
  return count;
}

class WindowFunctionParser {
 public:
  WindowFunctionParser(const WindowEntry& entry, bson::View specification, const Sort* sort,
                       VariableScope& scope)
      : entry_(entry),
        name_(entry.name),
        specification_(specification),
        sort_(sort),
        scope_(scope) {
    made_.kind = entry.kind;
    made_.make_growing = entry.growing;
    made_.make_sliding = entry.sliding;
  }

  Result<WindowFunction> parse() {
    GM_TRY(parse_form());
    if (sort_ != nullptr && sort_->parts().size() == 1) {
      GM_ASSIGN(made_.sort_value, parse_sort_field());
    }
    return std::move(made_);
  }

 private:
  bool has_one_sort_field() const { return sort_ != nullptr && sort_->parts().size() == 1; }

  Result<std::unique_ptr<Expression>> parse_sort_field() const {
    const Value path("$" + sort_->parts().front().path.dotted());
    return parse_expression(path.view(), scope_);
  }

  Status parse_form() {
    switch (entry_.form) {
      case WindowForm::kExpression:
        return parse_with_expression(true);
      case WindowForm::kCount:
        return parse_count();
      case WindowForm::kEnd:
        return parse_end();
      case WindowForm::kAccumulator:
        return parse_accumulator();
      case WindowForm::kRank:
        return parse_rank();
      case WindowForm::kFill:
        made_.bounds = WindowBounds::up_to_current();
        return parse_with_expression(false);
      case WindowForm::kLinearFill:
        GM_TRY(parse_with_expression(false));
        return require_one_sort_field(ErrorCode{605001});
      case WindowForm::kShift:
        return parse_shift();
      case WindowForm::kMovingAverage:
        return parse_moving_average();
      case WindowForm::kPerUnit:
        return parse_per_unit();
    }
    return {};
  }

  Status parse_input(ValueView value) {
    GM_ASSIGN(made_.input, parse_expression(value, scope_));
    return {};
  }

  Status parse_window(ValueView value) {
    GM_ASSIGN(made_.bounds, parse_window_bounds(value, sort_, scope_));
    return {};
  }

  Status require_one_sort_field(ErrorCode code) const {
    if (has_one_sort_field()) return {};
    return fail(code, name_ +
                          " must be specified with a top level sortBy expression with exactly "
                          "one element");
  }

  Status parse_with_expression(bool with_window) {
    bool has_window = false;
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        has_window = true;
        if (with_window) GM_TRY(parse_window(element.value));
      } else if (find_function(element.key) == nullptr) {
        return unknown_argument(element.key);
      } else if (made_.input != nullptr) {
        return refuse_window("Cannot specify two functions in window function spec");
      } else {
        GM_TRY(parse_input(element.value));
      }
    }
    if (has_window && !with_window) {
      return refuse_window("'window' field is not allowed in " + name_);
    }
    return {};
  }

  static tl::unexpected<Error> unknown_argument(std::string_view key) {
    return refuse_window("Window function found an unknown argument: " + std::string(key));
  }

  tl::unexpected<Error> unexpected_argument(std::string_view key) const {
    return refuse_window(name_ + " got unexpected argument: " + std::string(key));
  }

  Status parse_count() {
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        GM_TRY(parse_window(element.value));
      } else if (find_function(element.key) == nullptr) {
        return unknown_argument(element.key);
      } else if (made_.input != nullptr) {
        return refuse_window("Cannot specify multiple functions in window function spec");
      } else if (element.value.type() != Type::kDocument || !element.value.as_document().empty()) {
        return refuse_window("$count only accepts an empty object as input");
      } else {
        GM_TRY(parse_input(Value(int32_t{1}).view()));
      }
    }
    return {};
  }

  Status parse_end() {
    bool has_window = false;
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        if (has_window) return second_window();
        has_window = true;
        GM_TRY(parse_window(element.value));
      } else if (element.key == name_) {
        GM_TRY(parse_input(element.value));
      } else {
        return unexpected_argument(element.key);
      }
    }
    return {};
  }

  tl::unexpected<Error> second_window() const {
    return refuse_window("saw multiple 'window' fields in '" + name_ + "' expression");
  }

  Status parse_accumulator() {
    bool has_window = false;
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        if (has_window) return second_window();
        has_window = true;
        GM_TRY(parse_window(element.value));
      } else if (element.key != name_) {
        return unexpected_argument(element.key);
      } else if (made_.input != nullptr) {
        return refuse_window("saw multiple specifications for '" + name_ + "' expression");
      } else {
        GM_TRY(parse_accumulated(element));
      }
    }
    return {};
  }

  // Parses the arguments, which are those of the accumulator of $group.
  Status parse_accumulated(const bson::Element& element) {
    bson::Builder builder;
    builder.append(element.key, element.value);
    const Value value(std::move(builder).finish().view());
    GM_ASSIGN(AccumulatedField field, parse_accumulated_field("", value.view(), scope_));
    made_.input = std::move(field.argument);
    made_.n = std::move(field.n);
    made_.order = std::move(field.sort);
    return {};
  }

  Status parse_rank() {
    if (field_count(specification_) != 1) {
      return fail(ErrorCode{5371601}, "Rank style window functions take no other arguments");
    }
    const ValueView value = (*specification_.begin()).value;
    if (value.type() != Type::kDocument || !value.as_document().empty()) {
      return fail(ErrorCode{5371603}, name_ + " must be specified with '{}' as the value");
    }
    GM_TRY(require_one_sort_field(ErrorCode{5371602}));
    made_.bounds = WindowBounds::up_to_current();
    GM_ASSIGN(made_.input, parse_sort_field());
    return {};
  }

  Status parse_shift() {
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        return refuse_window("$shift does not accept a 'window' field");
      }
      if (find_function(element.key) == nullptr) return unknown_argument(element.key);
      if (made_.input != nullptr) {
        return refuse_window("Cannot specify multiple functions in window function spec");
      }
      if (element.value.type() != Type::kDocument) {
        return refuse_window("Argument to $shift must be an object");
      }
      GM_TRY(parse_shift_arguments(element.value.as_document()));
    }
    if (sort_ == nullptr) return refuse_window("'$shift' requires a sortBy");
    return {};
  }

  Status parse_shift_arguments(bson::View arguments) {
    std::optional<int32_t> by;
    for (const bson::Element element : arguments) {
      if (element.key == "output") {
        GM_TRY(parse_input(element.value));
      } else if (element.key == "by") {
        GM_ASSIGN(by, parse_by(element.value));
      } else if (element.key == "default") {
        GM_TRY(parse_default(element.value));
      } else {
        return refuse_window("Unknown argument in $shift");
      }
    }
    if (made_.input == nullptr) return refuse_window("$shift requires an 'output' expression.");
    if (!by) return refuse_window("$shift requires 'by' as an integer value.");
    made_.bounds = WindowBounds::only(*by);
    return {};
  }

  static Result<int32_t> parse_by(ValueView value) {
    const std::optional<int64_t> whole = value.integral();
    if (whole && *whole >= INT32_MIN && *whole <= INT32_MAX) return static_cast<int32_t>(*whole);
    return refuse_window("'$shift:by' field must be an integer, but found  by: " + shown(value));
  }

  Status parse_default(ValueView value) {
    GM_ASSIGN(const std::unique_ptr<Expression> expression, parse_expression(value, scope_));
    const std::optional<ValueView> constant = expression->constant();
    if (!constant) return refuse_window("'$shift:default' expression must yield a constant value.");
    made_.if_empty = Value(*constant);
    return {};
  }

  Status parse_moving_average() {
    const bson::Element call = *specification_.begin();
    if (field_count(specification_) != 1 || call.value.type() != Type::kDocument) {
      return refuse_window("$expMovingAvg must have exactly one argument that is an object");
    }
    const std::string two_fields =
        "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an "
        "'N' field or an 'alpha' field";
    const bson::View arguments = call.value.as_document();
    const std::optional<ValueView> input = arguments.find("input");
    if (field_count(arguments) != 2 || !input) return refuse_window(two_fields);
    if (sort_ == nullptr) return refuse_window("$expMovingAvg requires an explicit 'sortBy'");
    GM_TRY(parse_input(*input));
    made_.bounds = WindowBounds::up_to_current();
    if (const std::optional<ValueView> n = arguments.find("N")) return parse_weight_of_n(*n);
    if (const std::optional<ValueView> alpha = arguments.find("alpha")) return parse_alpha(*alpha);
    return refuse_window("Got unrecognized field in $expMovingAvg" + two_fields);
  }

  Status parse_weight_of_n(ValueView value) {
    if (!value.is_number()) {
      return refuse_window("'N' field must be an integer, but found type " + type_name(value));
    }
    const double number = *value.number();
    const bool is_nan = number != number;
    if (!is_nan && number != static_cast<double>(bson::clamped_integer(value).value_or(0)) &&
        number > -0x1p63 && number < 0x1p63) {
      return refuse_window("'N' field must be an integer, but found  N: " + shown(value) +
                           ". To use a non-integer, use the 'alpha' argument instead");
    }
    const int64_t n = bson::clamped_integer(value).value_or(0);
    if (n <= 0) {
      return refuse_window("'N' must be greater than zero. Got " + std::to_string(n));
    }
    const bson::Decimal128 one = to_decimal(Value(int32_t{1}));
    made_.alpha = divide(to_decimal(Value(int32_t{2})), add(to_decimal(Value(n)), one));
    return {};
  }

  Status parse_alpha(ValueView value) {
    if (!value.is_number()) return refuse_window("'alpha' must be a number");
    const bson::Decimal128 alpha = to_decimal(value);
    const Value number = value_of(alpha);
    const bool is_within = !is_nan(alpha) &&
                           bson::compare(number.view(), Value(int32_t{0}).view()) > 0 &&
                           bson::compare(number.view(), Value(int32_t{1}).view()) < 0;
    if (!is_within) {
      return refuse_window("'alpha' must be between 0 and 1 (exclusive), found alpha: " +
                           shown(value));
    }
    made_.alpha = alpha;
    return {};
  }

  Status parse_per_unit() {
    if (sort_ == nullptr) return refuse_window(name_ + " requires a sortBy");
    if (!has_one_sort_field()) return refuse_window(name_ + " requires a non-compound sortBy");
    bool has_window = false;
    std::optional<ValueView> arguments;
    for (const bson::Element element : specification_) {
      if (element.key == "window") {
        if (has_window && is_integral()) {
          return refuse_window("There can be only one 'window' field for $integral");
        }
        has_window = true;
        GM_TRY(parse_window(element.value));
      } else if (element.key == name_) {
        arguments = element.value;
      } else {
        return unexpected_argument(element.key);
      }
    }
    if (arguments->type() != Type::kDocument) {
      return refuse_window(name_ + " expects an object, but got a " + type_name(*arguments) + ": " +
                           name_ + ": " + shown(*arguments));
    }
    GM_TRY(parse_per_unit_arguments(arguments->as_document()));
    if (!has_window && !is_integral()) {
      return refuse_window("$derivative requires explicit window bounds");
    }
    return {};
  }

  bool is_integral() const { return entry_.kind == FunctionKind::kState; }

  Status parse_per_unit_arguments(bson::View arguments) {
    for (const bson::Element element : arguments) {
      if (element.key == "input") {
        GM_TRY(is_integral() ? parse_point(element.value) : parse_input(element.value));
      } else if (element.key == "unit") {
        if (made_.unit_ms && is_integral()) {
          return refuse_window("There can be only one 'unit' field for $integral");
        }
        GM_TRY(parse_unit(element.value));
      } else {
        return unexpected_argument(element.key);
      }
    }
    if (made_.input == nullptr) return refuse_window(name_ + " requires an 'input' expression");
    return {};
  }

  // The input of $integral is the point [sort value, value].
  Status parse_point(ValueView value) {
    bson::Builder builder;
    builder.open_array("").push(Value("$" + sort_->parts().front().path.dotted()).view());
    builder.push(value).close();
    const bson::Document holder = std::move(builder).finish();
    return parse_input((*holder.view().begin()).value);
  }

  Status parse_unit(ValueView value) {
    if (value.type() != Type::kString) {
      return refuse_window("unit' must be a string, but got " + type_name(value));
    }
    GM_ASSIGN(const TimeUnit unit, parse_time_unit(value.as_string()));
    made_.unit_ms = length_of(unit);
    if (!made_.unit_ms) return fail(ErrorCode{5490710}, "unit must be 'week' or smaller");
    return {};
  }

  const WindowEntry& entry_;
  const std::string name_;
  const bson::View specification_;
  const Sort* const sort_;
  VariableScope& scope_;
  WindowFunction made_;
};

}  // namespace

void WindowFunction::add_needs(FieldDependencies& needs) const {
  needs.add(*input);
  if (sort_value != nullptr) needs.add(*sort_value);
  if (!order) return;
  for (const Sort::Part& part : order->parts()) needs.add(part.path.dotted());
}

Result<WindowFunction> parse_window_function(std::string_view field, ValueView value,
                                             const Sort* sort, VariableScope& scope) {
  if (value.type() != Type::kDocument) {
    return refuse_window("The field '" + std::string(field) + "' must be an object");
  }
  const bson::View specification = value.as_document();
  for (const bson::Element element : specification) {
    if (!element.key.starts_with('$')) continue;
    const WindowEntry* const entry = find_function(element.key);
    if (entry == nullptr) {
      return refuse_window("Unrecognized window function, " + std::string(element.key));
    }
    return WindowFunctionParser(*entry, specification, sort, scope).parse();
  }
  std::string message = "Expected a $-prefixed window function";
  if (!specification.empty()) message += ", " + std::string((*specification.begin()).key);
  return refuse_window(std::move(message));
}

}  // namespace gridmount::query
