// A sum from which numbers can be removed again. Internal to engine/query. Not thread-safe.
//
// remove() adds the negative of the number to the compensated sum (number_sum.h), as servers do. So
// results are equal to those of servers in every digit. Infinities and NaN are counted instead of
// added, so that they can be removed.
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

  // Returns 0 if there are no numbers. The result has the widest type of the numbers in the sum.
  // Exception: the result for integers is an int32 if the sum fits, otherwise an int64 if the sum
  // fits, otherwise a double.
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
