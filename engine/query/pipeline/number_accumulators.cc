// $sum, $avg, $stdDevPop and $stdDevSamp. Values that are not numbers are ignored.

#include "engine/query/expression/number_sum.h"
#include "engine/query/pipeline/accumulator.h"

namespace gridmount::query {
namespace {

using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

class Sum : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value && value->is_number()) sum_.add(*value);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    output.append(field, sum_.total().view());
  }

 private:
  expressions::NumberSum sum_;
};

class Average : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value && value->is_number()) sum_.add(*value);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    const std::optional<bson::Value> average = sum_.average();
    if (!average) return output.append_null(field);
    output.append(field, average->view());
  }

 private:
  expressions::NumberSum sum_;
};

template <bool is_sample>
class Deviation : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value && value->is_number()) numbers_.add(*value);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    const std::optional<double> deviation =
        is_sample ? numbers_.of_sample() : numbers_.of_population();
    if (!deviation) return output.append_null(field);
    output.append(field, bson::Value(*deviation).view());
  }

 private:
  expressions::NumberDeviation numbers_;
};

}  // namespace

std::unique_ptr<Accumulator> make_sum(const AccumulatorSettings&) {
  return std::make_unique<Sum>();
}

std::unique_ptr<Accumulator> make_average(const AccumulatorSettings&) {
  return std::make_unique<Average>();
}

std::unique_ptr<Accumulator> make_deviation_population(const AccumulatorSettings&) {
  return std::make_unique<Deviation<false>>();
}

std::unique_ptr<Accumulator> make_deviation_sample(const AccumulatorSettings&) {
  return std::make_unique<Deviation<true>>();
}

}  // namespace gridmount::query
