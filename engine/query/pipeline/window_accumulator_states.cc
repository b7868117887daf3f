// The states of growing windows that use the accumulators of $group.

#include <utility>

#include "engine/query/output.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;

class AccumulatorState : public WindowState {
 public:
  AccumulatorState(MakeAccumulator make, const WindowStateSettings& settings)
      : make_(make), n_(settings.n), bytes_max_(settings.bytes_max), strings_(settings.strings) {
    begin();
  }

  Status add(const std::optional<ValueView>& value, bson::View document) override {
    return accumulator_->add(value, document);
  }
  void reset() override { begin(); }
  WindowResult result(const WindowValues&) override {
    output_.begin();
    accumulator_->write("", output_);
    GM_ASSIGN(const bson::View holder, output_.finish());
    return Value((*holder.begin()).value);
  }
  uint64_t bytes() const override { return accumulator_->bytes(); }

 private:
  void begin() {
    AccumulatorSettings settings;
    settings.n = n_;
    settings.bytes_max = bytes_max_;
    settings.strings = strings_;
    accumulator_ = make_(settings);
  }

  const MakeAccumulator make_;
  const int64_t n_;
  const uint64_t bytes_max_;
  const bson::StringOrder* const strings_;
  std::unique_ptr<Accumulator> accumulator_;
  DocumentOutput output_;
};

}  // namespace

Status WindowState::remove(const std::optional<ValueView>&, const WindowValues&) {
  return {};
}

std::unique_ptr<WindowState> make_growing_sum(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_sum, settings);
}

std::unique_ptr<WindowState> make_growing_average(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_average, settings);
}

std::unique_ptr<WindowState> make_growing_deviation_population(
    const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_deviation_population, settings);
}

std::unique_ptr<WindowState> make_growing_deviation_sample(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_deviation_sample, settings);
}

std::unique_ptr<WindowState> make_growing_min(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_min, settings);
}

std::unique_ptr<WindowState> make_growing_max(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_max, settings);
}

std::unique_ptr<WindowState> make_growing_push(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_push, settings);
}

std::unique_ptr<WindowState> make_growing_add_to_set(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_add_to_set, settings);
}

std::unique_ptr<WindowState> make_growing_first_n(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_first_n, settings);
}

std::unique_ptr<WindowState> make_growing_last_n(const WindowStateSettings& settings) {
  return std::make_unique<AccumulatorState>(make_last_n, settings);
}

}  // namespace gridmount::query
