// Sums of many numbers of mixed types, as $sum and $avg make them in expressions and in groups, and
// their standard deviation. Internal to engine/query.
//
// Results are those of servers, digit by digit: integers and doubles are added in the order in
// which they come to a double that carries the error of each addition along, so that sums of
// integers are exact; decimals are added apart. The type of a sum is the widest among the numbers:
// int32, int64, double, Decimal128; what an integer type cannot hold takes the next wider one.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::query::expressions {

// The sum of doubles in two, of which the second holds what the first has no digits for.
class DoubleSum {
 public:
  void add(double value);
  // In two halves that are doubles exactly.
  void add(int64_t value);

  // Infinities and NaN are what plain addition makes of them.
  double nearest() const;
  bson::Decimal128 decimal() const;
  // Where only integers were added, and the sum is one of int64.
  std::optional<int64_t> integer() const;

 private:
  double sum_ = 0;
  double error_ = 0;
  double plain_ = 0;
};

class NumberSum {
 public:
  // `number` with is_number().
  void add(bson::ValueView number);

  // 0 of nothing.
  bson::Value total() const;
  // Of all that was added: a double, or a Decimal128 if there was one. Nothing of nothing.
  std::optional<bson::Value> average() const;

 private:
  // All but decimals.
  DoubleSum others() const;
  void leave_small();
  bson::Decimal128 as_decimal() const;

  bson::Type type_ = bson::Type::kInt32;  // the widest so far
  int64_t count_ = 0;
  // The sum as long as there are int32 only, which is as good as a DoubleSum below 2^53.
  int64_t small_ = 0;
  bool is_small_ = true;
  DoubleSum others_;                                  // else
  bson::Decimal128 decimals_{0x3040000000000000, 0};  // 0
};

// By Welford's method, which does not subtract large sums from each other.
class NumberDeviation {
 public:
  // `number` with is_number(); a decimal counts as the nearest double.
  void add(bson::ValueView number);

  // Nothing of nothing; NaN where infinities or NaN were added.
  std::optional<double> of_population() const { return of(count_); }
  // Needs two numbers.
  std::optional<double> of_sample() const { return of(count_ - 1); }

 private:
  std::optional<double> of(int64_t freedom) const;

  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace gridmount::query::expressions
