// A sum from which numbers can be removed again. Internal to engine/query. Not thread-safe.
//
// Results are equal to those of servers in every digit: remove() adds the number's negative to the
// compensated sum (number_sum.h). Infinities and NaN are counted and not added, so that they can be
// removed.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"
#include "engine/query/expression/number_sum.h"

namespace gridmount::query {

class RemovableSum {
 public:
  // Add and remove a value. They ignore values that are not numbers.
  void add(bson::ValueView value) { update(value, 1); }
  void remove(bson::ValueView value) { update(value, -1); }

  // Returns 0 if there are no numbers. The type is the widest one among the numbers in the sum,
  // except that a sum of integers is an int32 if it fits, otherwise an int64, or a double if that
  // does not fit either.
  bson::Value total() const;
  // Returns nullopt if there are no numbers.
  std::optional<bson::Value> average() const;

 private:
  void update(bson::ValueView value, int quantity);
  void update_integer(int64_t value, bson::ValueView original, int quantity);
  void update_double(double value, int quantity);
  void update_decimal(bson::Decimal128 value, int quantity);
  std::optional<bson::Value> not_finite() const;

  expressions::NumberSum sum_;
  int64_t count_ = 0;
  int64_t doubles_ = 0;
  int64_t decimals_ = 0;
  int64_t nans_ = 0;
  int64_t positive_infinities_ = 0;
  int64_t negative_infinities_ = 0;
};

}  // namespace gridmount::query
