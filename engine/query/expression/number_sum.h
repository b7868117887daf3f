// Sums, averages and standard deviations of many numbers with different types, for expressions and
// groups. Internal to engine/query.
//
// Results are equal to those of servers in every digit. Integers and doubles are added in their
// order to a compensated sum, which consists of a double and the rounding errors of all additions.
// So sums of integers are exact. Decimals are added separately. The type of a sum is the widest
// type of the numbers, in the order int32, int64, double, Decimal128. If an integer type cannot
// represent the sum, the sum has the next wider type.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::query::expressions {

// A compensated sum of doubles. `error_` has the part of the sum for which `sum_` has no digits.
class DoubleSum {
 public:
  void add(double value);
  // Adds the value as two halves, each of which a double represents exactly.
  void add(int64_t value);

  // Returns the nearest double. Infinities and NaN give the same result as plain addition.
  double nearest() const;
  bson::Decimal128 decimal() const;
  // Returns the sum as an int64, or nullopt if the sum is out of range. All numbers that were added
  // must be integers.
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
  // The sum, if only int32 numbers were added and the sum has stayed between -2^53 and 2^53. In
  // this range, an int64 is as exact as a DoubleSum.
  int64_t small_ = 0;
  bool is_small_ = true;
  DoubleSum others_;  // the sum of all numbers but decimals, unless is_small_
  bson::Decimal128 decimals_{0x3040000000000000, 0};  // initially 0
};

// Computes standard deviations with Welford's method, which does not subtract large sums from each
// other.
class NumberDeviation {
 public:
  // `number` must satisfy is_number(). A decimal is converted to the nearest double.
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
