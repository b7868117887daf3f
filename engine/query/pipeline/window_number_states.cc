// Window functions of numbers: $sum, $avg, $stdDevPop, $stdDevSamp, $covariancePop, $covarianceSamp
// and $integral. Results equal the server's, digit by digit.

#include <array>
#include <cmath>
#include <limits>

#include "engine/query/decimal_arithmetic.h"
#include "engine/query/pipeline/removable_sum.h"
#include "engine/query/pipeline/value_arithmetic.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

bool is_nan_value(ValueView value) {
  return value.is_number() && std::isnan(*value.number());
}

bool is_finite_value(ValueView value) {
  if (value.type() != Type::kDecimal128) return std::isfinite(*value.number());
  const bson::Decimal128 decimal = value.as_decimal128();
  return !is_nan(decimal) && !is_infinite(decimal);
}

class SlidingSum : public WindowState {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value) sum_.add(*value);
    return {};
  }
  Status remove(const MaybeValue& value, const WindowValues&) override {
    if (value) sum_.remove(*value);
    return {};
  }
  void reset() override { sum_ = {}; }
  WindowResult result(const WindowValues&) override { return sum_.total(); }

 protected:
  RemovableSum sum_;
};

class SlidingAverage : public SlidingSum {
 public:
  WindowResult result(const WindowValues&) override { return sum_.average().value_or(Value()); }
};

// Updates the sum of the squared differences from the mean when a number enters or leaves the
// window.
class SlidingDeviation : public WindowState {
 public:
  explicit SlidingDeviation(bool is_sample) : is_sample_(is_sample) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (value && value->is_number()) update(*value, 1);
    return {};
  }
  Status remove(const MaybeValue& value, const WindowValues&) override {
    if (value && value->is_number()) update(*value, -1);
    return {};
  }
  void reset() override {
    sum_ = {};
    squares_ = {};
    count_ = 0;
    not_finite_ = 0;
  }
  WindowResult result(const WindowValues&) override {
    if (not_finite_ > 0) return Value();
    const int64_t freedom = is_sample_ ? count_ - 1 : count_;
    if (freedom == 0) return Value();
    const double squares = as_double(squares_);
    // Rounding may make the sum negative. Its nearest valid value is 0.
    if (squares < 0 || (!is_sample_ && count_ == 1)) {
      squares_ = {};
      return Value(int32_t{0});
    }
    // Without numbers the result for a sample is -0.0, as on servers.
    return Value(std::sqrt(squares / static_cast<double>(freedom)));
  }

 private:
  static double as_double(const expressions::NumberSum& sum) {
    return *sum.total().view().number();
  }

  void update(ValueView value, int quantity) {
    if (!is_finite_value(value)) {
      not_finite_ += quantity;
      count_ += quantity;
      return;
    }
    if (count_ == 0) {
      ++count_;
      sum_.add(value);
      return;
    }
    if (count_ + quantity == 0) return reset();
    const double number = *value.number();
    const double distance = static_cast<double>(count_) * number - as_double(sum_);
    count_ += quantity;
    sum_.add(Value(number * quantity));
    squares_.add(
        Value(distance * distance * quantity / static_cast<double>(count_ * (count_ - quantity))));
  }

  const bool is_sample_;
  expressions::NumberSum sum_;
  expressions::NumberSum squares_;
  int64_t count_ = 0;  // includes numbers that are not finite
  int64_t not_finite_ = 0;
};

using Pair = std::array<ValueView, 2>;

// Returns the elements of an array of two.
std::optional<Pair> pair_of(const MaybeValue& value) {
  if (!value || value->type() != Type::kArray) return std::nullopt;
  Pair pair{ValueView(Type::kNull, nullptr, 0), ValueView(Type::kNull, nullptr, 0)};
  size_t size = 0;
  for (const bson::Element element : value->as_document()) {
    if (size < pair.size()) pair[size] = element.value;
    ++size;
  }
  if (size != pair.size()) return std::nullopt;
  return pair;
}

// Pairs that are not two numbers are ignored.
class Covariance : public WindowState {
 public:
  explicit Covariance(bool is_sample) : is_sample_(is_sample) {}

  Status add(const MaybeValue& value, bson::View) override {
    const std::optional<Pair> pair = numbers_of(value);
    if (!pair) return {};
    if (!are_finite(*pair)) {
      products_.add(not_finite(*pair));
      return {};
    }
    ++count_;
    GM_ASSIGN(const Value x, arithmetic_.subtract((*pair)[0], mean(mean_x_)));
    mean_x_.add((*pair)[0]);
    mean_y_.add((*pair)[1]);
    GM_ASSIGN(const Value y, arithmetic_.subtract((*pair)[1], mean(mean_y_)));
    GM_ASSIGN(const Value product, arithmetic_.multiply(x, y));
    products_.add(product);
    return {};
  }

  Status remove(const MaybeValue& value, const WindowValues&) override {
    const std::optional<Pair> pair = numbers_of(value);
    if (!pair) return {};
    if (!are_finite(*pair)) {
      products_.remove(not_finite(*pair));
      return {};
    }
    if (--count_ == 0) {
      reset();
      return {};
    }
    mean_x_.remove((*pair)[0]);
    GM_ASSIGN(const Value x, arithmetic_.subtract((*pair)[0], mean(mean_x_)));
    GM_ASSIGN(const Value y, arithmetic_.subtract((*pair)[1], mean(mean_y_)));
    GM_ASSIGN(const Value product, arithmetic_.multiply(x, y));
    products_.remove(product);
    mean_y_.remove((*pair)[1]);
    return {};
  }

  void reset() override {
    mean_x_ = {};
    mean_y_ = {};
    products_ = {};
    count_ = 0;
  }

  WindowResult result(const WindowValues&) override {
    if (count_ == 1 && !is_sample_) return Value(0.0);
    const auto freedom = static_cast<double>(is_sample_ ? count_ - 1 : count_);
    if (freedom <= 0) return Value();
    Value total = products_.total();
    if (total.type() != Type::kDecimal128) return Value(*total.view().number() / freedom);
    GM_ASSIGN(total, arithmetic_.divide(total, Value(freedom)));
    return total;
  }

 private:
  static std::optional<Pair> numbers_of(const MaybeValue& value) {
    const std::optional<Pair> pair = pair_of(value);
    if (!pair || !(*pair)[0].is_number() || !(*pair)[1].is_number()) return std::nullopt;
    return pair;
  }
  static bool are_finite(const Pair& pair) {
    return is_finite_value(pair[0]) && is_finite_value(pair[1]);
  }
  // Returns the value that a pair with an infinity or NaN adds to the sum of products.
  static Value not_finite(const Pair& pair) {
    bool has_nan = false;
    bool has_positive = false;
    bool has_negative = false;
    bool is_decimal = false;
    for (const ValueView value : pair) {
      if (is_nan_value(value)) {
        has_nan = true;
        continue;
      }
      is_decimal = is_decimal || value.type() == Type::kDecimal128;
      if (is_finite_value(value)) continue;
      (*value.number() < 0 ? has_negative : has_positive) = true;
    }
    double sum = has_positive ? std::numeric_limits<double>::infinity()
                              : -std::numeric_limits<double>::infinity();
    if (has_nan || (has_positive && has_negative)) sum = std::numeric_limits<double>::quiet_NaN();
    return is_decimal ? value_of(to_decimal(Value(sum))) : Value(sum);
  }
  static Value mean(const RemovableSum& sum) { return sum.average().value_or(Value()); }

  const bool is_sample_;
  ValueArithmetic arithmetic_;
  RemovableSum mean_x_;
  RemovableSum mean_y_;
  RemovableSum products_;
  int64_t count_ = 0;
};

// The area below the line through the points of the window, by the trapezoidal rule.
class Integral : public WindowState {
 public:
  explicit Integral(std::optional<int64_t> unit_ms) : unit_ms_(unit_ms) {}

  Status add(const MaybeValue& value, bson::View) override {
    GM_ASSIGN(const Pair point, point_of(value));
    if (has_nan(point)) ++nans_;
    if (last_) {
      GM_ASSIGN(const Value area, area_between(*pair_of(last_->view()), point));
      area_.add(area);
    }
    last_ = Value(*value);
    return {};
  }
  Status remove(const MaybeValue& value, const WindowValues& rest) override {
    GM_ASSIGN(const Pair point, point_of(value));
    if (has_nan(point)) --nans_;
    if (rest.empty()) {
      last_.reset();
      return {};
    }
    GM_ASSIGN(const Value area, area_between(point, *pair_of(rest.front()->view())));
    area_.remove(area);
    return {};
  }
  void reset() override {
    last_.reset();
    area_ = {};
    nans_ = 0;
  }
  WindowResult result(const WindowValues&) override {
    if (!last_) return Value();
    if (nans_ > 0) return Value(std::numeric_limits<double>::quiet_NaN());
    Value area = area_.total();
    if (unit_ms_) {
      GM_ASSIGN(area, arithmetic_.divide(area, Value(*unit_ms_)));
    }
    return area;
  }

 private:
  static bool has_nan(const Pair& point) {
    return is_nan_value(point[0]) || is_nan_value(point[1]);
  }

  Result<Pair> point_of(const MaybeValue& value) const {
    const std::optional<Pair> pair = pair_of(value);
    const bool is_date = pair && (*pair)[0].type() == Type::kDate;
    if (!pair || !(*pair)[1].is_number() || !(is_date || (*pair)[0].is_number())) {
      return fail(ErrorCode{5423900},
                  "The input value of $integral window function must be a vector of 2 value, the "
                  "first value must be numeric or date type and the second must be numeric.");
    }
    if (unit_ms_ && !is_date) {
      return fail(ErrorCode{5423901},
                  "$integral with 'unit' expects the sortBy field to be a Date");
    }
    if (!unit_ms_ && is_date) {
      return fail(ErrorCode{5423902},
                  "$integral (with no 'unit') expects the sortBy field to be numeric");
    }
    return *pair;
  }

  Result<Value> area_between(const Pair& a, const Pair& b) {
    if (has_nan(a) || has_nan(b)) return Value(int32_t{0});
    GM_ASSIGN(const Value width, arithmetic_.subtract(b[0], a[0]));
    GM_ASSIGN(const Value heights, arithmetic_.add(b[1], a[1]));
    GM_ASSIGN(const Value twice, arithmetic_.multiply(heights, width));
    return arithmetic_.divide(twice, Value(2.0));
  }

  const std::optional<int64_t> unit_ms_;
  ValueArithmetic arithmetic_;
  RemovableSum area_;
  std::optional<Value> last_;  // the newest point, if the window is not empty
  int64_t nans_ = 0;
};

}  // namespace

std::unique_ptr<WindowState> make_sliding_sum(const WindowStateSettings&) {
  return std::make_unique<SlidingSum>();
}

std::unique_ptr<WindowState> make_sliding_average(const WindowStateSettings&) {
  return std::make_unique<SlidingAverage>();
}

std::unique_ptr<WindowState> make_sliding_deviation_population(const WindowStateSettings&) {
  return std::make_unique<SlidingDeviation>(false);
}

std::unique_ptr<WindowState> make_sliding_deviation_sample(const WindowStateSettings&) {
  return std::make_unique<SlidingDeviation>(true);
}

std::unique_ptr<WindowState> make_covariance_population(const WindowStateSettings&) {
  return std::make_unique<Covariance>(false);
}

std::unique_ptr<WindowState> make_covariance_sample(const WindowStateSettings&) {
  return std::make_unique<Covariance>(true);
}

std::unique_ptr<WindowState> make_integral(const WindowStateSettings& settings) {
  return std::make_unique<Integral>(settings.function.unit_ms);
}

}  // namespace gridmount::query
