// The common part of $percentile and $median. Both operators are expressions on an array, and also
// accumulators over documents.
//
// Source: MongoDB manual, "$percentile (aggregation)", "$median (aggregation)". The error codes are
// the codes of MongoDB servers.
//
// Thread-safety: functions without state. One thread at a time may use a VariableScope.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

// The parsed arguments {input: "$x", p: [0.5, 0.9], method: "approximate"}. $median has no `p`.
struct PercentileArguments {
  std::unique_ptr<Expression> input;
  std::vector<double> shares;  // the values of `p`, from 0 to 1; 0.5 for $median
};
// `name` is "$percentile" or "$median". `operand` must be a document, and need not outlive the
// call. Fails with UnknownField for an unknown field, with 40414 for a missing field, with
// TypeMismatch if `method` is not a string, with BadValue if `method` is a string other than
// "approximate", with 7750300 to 7750303 for an invalid `p`, and with the errors of
// parse_expression().
Result<PercentileArguments> parse_percentile_arguments(std::string_view name,
                                                       bson::ValueView operand,
                                                       VariableScope& scope);

// Appends the value to `samples` if it is a number other than NaN.
void add_sample(bson::ValueView value, std::vector<double>& samples);

// Returns the least sample s such that at least the share `p` (0 to 1) of all samples is less than
// or equal to s. If `p` is 0, returns the least sample. `sorted` has the samples in ascending
// order, and must not be empty.
double percentile_of(const std::vector<double>& sorted, double p);

}  // namespace gridmount::query
