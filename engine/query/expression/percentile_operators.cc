// $percentile and $median of an array. Source: MongoDB manual, "$percentile (aggregation)". For
// arrays, servers return exact percentiles, although the only method is "approximate".

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "engine/query/expression/operator.h"
#include "engine/query/expression/percentile.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// The arguments are the input and each share as a constant.
template <bool is_median>
Evaluated evaluate_percentiles(const Call& call) {
  GM_ASSIGN(const MaybeValue input, call.argument(0));
  std::vector<double> samples;
  if (is_type(input, Type::kArray)) {
    for (const bson::Element element : input->as_document()) add_sample(element.value, samples);
  } else if (input) {
    add_sample(*input, samples);
  }
  GM_TRY(sort_interruptibly(samples, std::less<>()));
  ValueOutput output(call.context, Type::kArray);
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    MaybeValue value = null_value();
    if (!samples.empty()) {
      GM_ASSIGN(const MaybeValue p, call.argument(i));
      GM_ASSIGN(value, give(call.context, percentile_of(samples, *p->number())));
    }
    if (is_median) return value;
    GM_TRY(output.push_element(*value));
  }
  return output.finish();
}

Result<std::vector<ExpressionPointer>> parse_shares(ValueView operand, ParseContext& context) {
  GM_ASSIGN(const ExpressionPointer parsed, parse_operand(operand, context));
  if (!is_constant(*parsed)) {
    return fail(ErrorCode{7750300},
                "The $percentile 'p' field must be an array of constant values, but found value: " +
                    show(operand) + ".");
  }
  const std::string wrong =
      "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ";
  const MaybeValue value = constant_value(*parsed);
  if (!is_type(value, Type::kArray) || value->as_document().empty()) {
    return fail(ErrorCode{7750301}, wrong + show(value));
  }
  std::vector<ExpressionPointer> shares;
  for (const bson::Element element : value->as_document()) {
    if (!element.value.is_number()) return fail(ErrorCode{7750302}, wrong + show(element.value));
    const double p = *element.value.number();
    // This condition also refuses NaN.
    if (!(p >= 0 && p <= 1)) return fail(ErrorCode{7750303}, wrong + double_to_text(p));
    shares.push_back(make_constant(element.value));
  }
  return shares;
}

constexpr std::array<std::string_view, 3> kPercentileNames{"input", "method", "p"};

struct ParsedArguments {
  ExpressionPointer input;
  std::vector<ExpressionPointer> shares;
};

// The operand must be an object.
Result<ParsedArguments> parse_parts(std::string_view of, ValueView operand, ParseContext& context) {
  const std::string name(of);
  const bool is_median = of == "$median";
  std::array<MaybeValue, kPercentileNames.size()> operands;
  const size_t count = is_median ? 2 : kPercentileNames.size();
  for (const bson::Element element : operand.as_document()) {
    const auto end = kPercentileNames.begin() + count;
    const auto known = std::find(kPercentileNames.begin(), end, element.key);
    GM_TRY(
        require(known != end, ErrorCode::kUnknownField,
                "BSON field '" + name + "." + std::string(element.key) + "' is an unknown field."));
    operands[static_cast<size_t>(known - kPercentileNames.begin())] = element.value;
  }
  for (const size_t i : {size_t{0}, size_t{2}, size_t{1}}) {
    GM_TRY(require(i >= count || operands[i].has_value(), ErrorCode{40414},
                   "BSON field '" + name + "." + std::string(kPercentileNames[i]) +
                       "' is missing but a required field"));
  }
  GM_TRY(require(operands[1]->type() == Type::kString, ErrorCode::kTypeMismatch,
                 "BSON field '" + name + ".method' is the wrong type '" +
                     std::string(type_name(operands[1])) + "', expected type 'string'"));
  ParsedArguments arguments;
  GM_ASSIGN(arguments.input, parse_operand(*operands[0], context));
  if (is_median) {
    arguments.shares.push_back(make_constant(bson::Value(0.5).view()));
  } else {
    GM_ASSIGN(arguments.shares, parse_shares(*operands[2], context));
  }
  GM_TRY(require(operands[1]->as_string() == "approximate", ErrorCode::kBadValue,
                 "Currently only 'approximate' can be used as a percentile 'method'."));
  return arguments;
}

template <bool is_median>
Result<ExpressionPointer> parse_percentiles(const Operator& op, ValueView operand,
                                            ParseContext& context) {
  if (operand.type() != Type::kDocument) {
    return fail(
        ErrorCode{is_median ? 7436201 : 7436200},
        "specification must be an object; found " + std::string(op.name) + ": " + show(operand));
  }
  GM_ASSIGN(ParsedArguments parsed, parse_parts(op.name, operand, context));
  std::vector<ExpressionPointer> arguments;
  arguments.push_back(std::move(parsed.input));
  for (ExpressionPointer& share : parsed.shares) arguments.push_back(std::move(share));
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kPercentileOperators[] = {
    {.name = "$percentile",
     .parse = parse_percentiles<false>,
     .evaluate = evaluate_percentiles<false>},
    {.name = "$median", .parse = parse_percentiles<true>, .evaluate = evaluate_percentiles<true>},
};

}  // namespace

std::span<const Operator> percentile_operators() {
  return kPercentileOperators;
}

}  // namespace gridmount::query::expressions

namespace gridmount::query {

Result<PercentileArguments> parse_percentile_arguments(std::string_view name,
                                                       bson::ValueView operand,
                                                       VariableScope& scope) {
  expressions::ParseContext context{scope};
  GM_ASSIGN(expressions::ParsedArguments parsed, expressions::parse_parts(name, operand, context));
  PercentileArguments arguments{std::move(parsed.input), {}};
  for (const expressions::ExpressionPointer& share : parsed.shares) {
    arguments.shares.push_back(*expressions::constant_value(*share)->number());
  }
  return arguments;
}

void add_sample(bson::ValueView value, std::vector<double>& samples) {
  if (!value.is_number()) return;
  const double sample = *value.number();
  if (!std::isnan(sample)) samples.push_back(sample);
}

double percentile_of(const std::vector<double>& sorted, double p) {
  const auto count = static_cast<double>(sorted.size());
  const double rank = std::clamp(std::ceil(p * count) - 1, 0.0, count - 1);
  return sorted[static_cast<size_t>(rank)];
}

}  // namespace gridmount::query
