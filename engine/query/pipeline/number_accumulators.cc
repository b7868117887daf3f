// $sum, $avg, $stdDevPop and $stdDevSamp. Values that are no numbers do not count.

#include <cmath>

#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/number_total.h"

namespace gridmount::query {
namespace {

using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

class Sum : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value && value->is_number()) total_.add(*value);
    return {};
  }
  void write(std::string_view field, Output& output) const override {
    output.append(field, total_.total().view());
  }

 private:
  NumberTotal total_;
};

class Average : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (!value || !value->is_number()) return {};
    total_.add(*value);
    ++count_;
    return {};
  }
  void write(std::string_view field, Output& output) const override {
    if (count_ == 0) return output.append_null(field);
    output.append(field, total_.average(count_).view());
  }

 private:
  NumberTotal total_;
  int64_t count_ = 0;
};

// Welford's method, which does not cancel.
class Deviation : public Accumulator {
 public:
  explicit Deviation(int64_t spared) : spared_(spared) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!value || !value->is_number()) return {};
    const double number = value->number().value_or(0);
    ++count_;
    const double delta = number - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (number - mean_);
    return {};
  }
  void write(std::string_view field, Output& output) const override {
    if (count_ <= spared_) return output.append_null(field);
    const bson::Value result(std::sqrt(squares_ / static_cast<double>(count_ - spared_)));
    output.append(field, result.view());
  }

 private:
  const int64_t spared_;  // 1 for a sample: its mean takes one degree of freedom
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace

std::unique_ptr<Accumulator> make_sum(const AccumulatorSettings&) {
  return std::make_unique<Sum>();
}

std::unique_ptr<Accumulator> make_average(const AccumulatorSettings&) {
  return std::make_unique<Average>();
}

std::unique_ptr<Accumulator> make_deviation_population(const AccumulatorSettings&) {
  return std::make_unique<Deviation>(0);
}

std::unique_ptr<Accumulator> make_deviation_sample(const AccumulatorSettings&) {
  return std::make_unique<Deviation>(1);
}

}  // namespace gridmount::query
