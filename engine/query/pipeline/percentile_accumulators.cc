// $percentile and $median. Servers use an approximation that is exact for few values. This
// implementation keeps all values and is always exact.

#include <functional>
#include <string>
#include <vector>

#include "engine/query/expression/percentile.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/pipeline/accumulator.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;

class Percentiles : public Accumulator {
 public:
  Percentiles(std::string_view name, bool is_list, const AccumulatorSettings& settings)
      : name_(name), is_list_(is_list), shares_(*settings.shares), bytes_max_(settings.bytes_max) {}

  Status add(const std::optional<ValueView>& value, bson::View) override {
    if (!value) return {};
    add_sample(*value, samples_);
    bytes_ = samples_.capacity() * sizeof(double);
    if (bytes_ > bytes_max_) return used_too_much(name_, bytes_max_);
    return {};
  }

  void write(std::string_view field, DocumentOutput& output) const override {
    if (Status sorted = sort_interruptibly(samples_, std::less<>()); !sorted) {
      return output.fail(std::move(sorted).error());
    }
    if (!is_list_) return output.append(field, percentile(shares_.front()));
    output.open_array(field);
    for (const double share : shares_) output.push(percentile(share));
    output.close();
  }

 private:
  Value percentile(double share) const {
    return samples_.empty() ? Value() : Value(percentile_of(samples_, share));
  }

  const std::string_view name_;
  const bool is_list_;
  const std::vector<double>& shares_;
  const uint64_t bytes_max_;
  mutable std::vector<double> samples_;  // write() sorts them
};

}  // namespace

std::unique_ptr<Accumulator> make_percentile(const AccumulatorSettings& settings) {
  return std::make_unique<Percentiles>("$percentile", true, settings);
}

std::unique_ptr<Accumulator> make_median(const AccumulatorSettings& settings) {
  return std::make_unique<Percentiles>("$median", false, settings);
}

}  // namespace gridmount::query
