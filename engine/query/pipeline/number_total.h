// A sum of numbers of all types as the server keeps it: integers exactly, doubles in two doubles so
// that nothing is lost to rounding on the way, decimals as decimals. Internal to this folder.
#pragma once

#include <cstdint>

#include "engine/bson/value.h"

namespace gridmount::query {

class NumberTotal {
 public:
  // A value with is_number().
  void add(bson::ValueView number) {
    if (number.type() == bson::Type::kInt32) {
      integers_ += number.as_int32();
    } else {
      add_other(number);
    }
  }

  // In the widest type that was added; integers that need it become int64 or double.
  bson::Value total() const;
  // Of `count` numbers, count > 0: a double, or a decimal if one was added.
  bson::Value average(int64_t count) const;

 private:
  __extension__ using Integer = __int128;

  void add_other(bson::ValueView number);
  void add_double(double value);
  // Without the decimals.
  double as_double() const;
  bson::Value as_decimal() const;

  Integer integers_ = 0;
  bool has_int64_ = false;
  bool has_double_ = false;
  bool has_decimal_ = false;
  double sum_ = 0;        // of the doubles,
  double rest_ = 0;       // what rounding took from it,
  double plain_sum_ = 0;  // and as the machine adds, for infinities
  bson::Decimal128 decimal_;
};

}  // namespace gridmount::query
