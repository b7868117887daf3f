// Sums, averages and standard deviations of many numbers of mixed types, for expressions and
// groups. Internal to engine/query.
//
// Results equal the server's, digit by digit. Integers and doubles are added, in their order, to a
// compensated sum: a double, and the rounding errors of the additions so far. So sums of integers
// are exact. Decimals are added separately. The type of a sum is the widest type among the numbers:
// int32, int64, double, Decimal128. A sum that an integer type cannot hold has the next wider type.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::query::expressions {

// A compensated sum of doubles. `error_` holds what `sum_` has no digits for.
class DoubleSum {
 public:
  void add(double value);
  // Adds the value as two halves. A double holds each half exactly.
  void add(int64_t value);

  // Returns the nearest double. Infinities and NaN give the same result as plain addition.
  double nearest() const;
  bson::Decimal128 decimal() const;
  // Returns the sum of integers, if only integers were added and the sum fits into int64.
  std::optional<int64_t> integer() const;

 private:
  double sum_ = 0;
  double error_ = 0;
  double plain_ = 0;
};

class NumberSum {
 public:
  // `number` must satisfy is_number().
  void add(bson::ValueView number);

  // Returns 0 if nothing was added.
  bson::Value total() const;
  // Returns the average as a double, or as a Decimal128 if a Decimal128 was added. Returns nullopt
  // if nothing was added.
  std::optional<bson::Value> average() const;

 private:
  // Returns the sum of all numbers except decimals.
  DoubleSum others() const;
  void leave_small();
  bson::Decimal128 as_decimal() const;

  bson::Type type_ = bson::Type::kInt32;  // the widest type so far
  int64_t count_ = 0;
  // The sum while there are only int32 numbers. Below 2^53 it is as exact as a DoubleSum.
  int64_t small_ = 0;
  bool is_small_ = true;
  DoubleSum others_;                                  // the sum otherwise
  bson::Decimal128 decimals_{0x3040000000000000, 0};  // initially 0
};

// Standard deviation by Welford's method, which avoids subtracting large sums from each other.
class NumberDeviation {
 public:
  // `number` must satisfy is_number(). A decimal counts as the nearest double.
  void add(bson::ValueView number);

  // Returns nullopt if nothing was added, and NaN if an infinity or NaN was added.
  std::optional<double> of_population() const { return of(count_); }
  // Returns nullopt unless at least two numbers were added.
  std::optional<double> of_sample() const { return of(count_ - 1); }

 private:
  std::optional<double> of(int64_t freedom) const;

  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace gridmount::query::expressions
