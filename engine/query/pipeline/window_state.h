// The states of window functions. A window gets new values at its end, and may lose values at its
// beginning. Internal to engine/query. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/string_order.h"
#include "engine/bson/value.h"

namespace gridmount::query {

struct WindowFunction;

// The values of the input in a window. The oldest value is the first. nullopt means missing.
using WindowValues = std::deque<std::optional<bson::Value>>;
// The result of a function. nullopt means missing: the document then lacks the output field.
using WindowResult = Result<std::optional<bson::Value>>;

class WindowState {
 public:
  virtual ~WindowState() = default;

  // Adds the value of the input for `document`, which is the next one in the order.
  virtual Status add(const std::optional<bson::ValueView>& value, bson::View document) = 0;
  // Removes `value`, which is the oldest one. `rest` has the values that remain. Not called for
  // growing windows.
  virtual Status remove(const std::optional<bson::ValueView>& value, const WindowValues& rest);
  // Removes all values.
  virtual void reset() = 0;
  // Returns the function's result. `values` has the values of a sliding window, and is empty for a
  // growing window.
  virtual WindowResult result(const WindowValues& values) = 0;
  // Returns how many bytes of memory the state uses outside the object itself.
  virtual uint64_t bytes() const { return 0; }
};

struct WindowStateSettings {
  const WindowFunction& function;  // must outlive the state
  int64_t n = 1;
  uint64_t bytes_max = 0;
  // The order of strings. Null: as bytes.
  const bson::StringOrder* strings = nullptr;
};

using MakeWindowState = std::unique_ptr<WindowState> (*)(const WindowStateSettings& settings);

// --- The kinds, by family. A growing window begins at the first document of the partition, so no
// value is removed from it.

std::unique_ptr<WindowState> make_growing_sum(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_average(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_deviation_population(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_deviation_sample(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_min(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_max(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_push(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_add_to_set(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_first_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_last_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_min_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_max_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_top(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_top_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_bottom(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_growing_bottom_n(const WindowStateSettings& settings);

std::unique_ptr<WindowState> make_sliding_sum(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_average(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_deviation_population(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_deviation_sample(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_covariance_population(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_covariance_sample(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_integral(const WindowStateSettings& settings);

std::unique_ptr<WindowState> make_sliding_min(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_max(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_push(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_add_to_set(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_first_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_last_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_min_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_max_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_top(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_top_n(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_bottom(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_sliding_bottom_n(const WindowStateSettings& settings);

std::unique_ptr<WindowState> make_rank(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_dense_rank(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_document_number(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_moving_average(const WindowStateSettings& settings);
std::unique_ptr<WindowState> make_last_observation(const WindowStateSettings& settings);

}  // namespace gridmount::query
