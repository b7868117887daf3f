// Sums of many numbers of mixed types, as $sum and $avg make them. Internal to engine/query.
//
// Integers are summed exactly, doubles in one double with the error of each addition carried along,
// so that neither the order nor 2^53 matters; decimals are summed apart. The type of the result is
// the widest among the numbers: int32, int64, double, Decimal128.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::query::expressions {

class NumberSum {
 public:
  // `number` with is_number().
  void add(bson::ValueView number);

  uint64_t count() const { return count_; }
  bool is_decimal() const { return type_ == bson::Type::kDecimal128; }
  // The widest type so far; int32 if there was nothing.
  bson::Type type() const { return type_; }

  // What is_decimal() says which of.
  double as_double() const;
  bson::Decimal128 as_decimal() const;
  // If all were integers and the sum fits.
  std::optional<int64_t> as_int64() const;

 private:
  __extension__ using Signed128 = __int128;

  // A double and what rounding took away from it.
  struct Compensated {
    double sum = 0;
    double error = 0;
    // Infinities and NaN come out of here: their errors mean nothing.
    double plain = 0;

    void add(double value);
  };

  Compensated all() const;

  bson::Type type_ = bson::Type::kInt32;
  uint64_t count_ = 0;
  Signed128 integers_ = 0;
  Compensated doubles_;
  bson::Decimal128 decimals_{0x3040000000000000, 0};  // 0
};

}  // namespace gridmount::query::expressions
