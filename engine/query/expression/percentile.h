// $percentile and $median, which are expressions over an array and accumulators over documents.
// Source: MongoDB manual, "$percentile (aggregation)", "$median (aggregation)"; codes as the
// server's.
//
// Thread-safety: pure functions.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

// {input: "$x", p: [0.5, 0.9], method: "approximate"}; $median has no `p`, and the one share of
// 0.5.
struct PercentileArguments {
  std::unique_ptr<Expression> input;
  std::vector<double> shares;  // 0 to 1
};
Result<PercentileArguments> parse_percentile_arguments(std::string_view name,
                                                       bson::ValueView operand,
                                                       VariableScope& scope);

// Appends the value if it is a number; what is none, and NaN, does not count.
void add_sample(bson::ValueView value, std::vector<double>& samples);

// The least sample that at least the share `p` of them does not exceed. `sorted` is not empty.
double percentile_of(const std::vector<double>& sorted, double p);

}  // namespace gridmount::query
