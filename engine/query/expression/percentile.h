// The common part of $percentile and $median. Both are expressions on an array, and accumulators
// over documents. Thread-safety: pure functions.
//
// Source: MongoDB manual, "$percentile (aggregation)", "$median (aggregation)". Error codes are
// those of servers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

// The parsed arguments {input: "$x", p: [0.5, 0.9], method: "approximate"}. `shares` has the values
// of `p`. $median has no `p`, and its only share is 0.5.
struct PercentileArguments {
  std::unique_ptr<Expression> input;
  std::vector<double> shares;  // 0 to 1
};
// `operand` must be a document. Fails with UnknownField or 40414 for a field too many or too few,
// with TypeMismatch or BadValue for another `method` than "approximate", with 7750300 to 7750303
// for invalid `p`, and with the errors of the expressions.
Result<PercentileArguments> parse_percentile_arguments(std::string_view name,
                                                       bson::ValueView operand,
                                                       VariableScope& scope);

// Appends the value to `samples` if it is a number other than NaN.
void add_sample(bson::ValueView value, std::vector<double>& samples);

// Returns the least sample s such that at least the share `p` of all samples is less than or equal
// to s. `sorted` has the samples in ascending order, and must not be empty.
double percentile_of(const std::vector<double>& sorted, double p);

}  // namespace gridmount::query
