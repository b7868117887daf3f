// A function of $setWindowFields, {$sum: "$x", window: {documents: [-1, 0]}}, as parsed. Internal
// to engine/query. Immutable once parsed, so safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/expression/field_dependencies.h"
#include "engine/query/pipeline/window_bounds.h"
#include "engine/query/pipeline/window_state.h"
#include "engine/query/sort.h"

namespace gridmount::query {

struct WindowFunction {
  // How the result is computed (window_evaluation.h).
  enum class Kind { kState, kFirst, kLast, kDerivative, kLinearFill };

  Kind kind = Kind::kState;
  WindowBounds bounds;
  std::unique_ptr<Expression> input;       // never null
  std::unique_ptr<Expression> sort_value;  // the only field of sortBy; null if there is not one
  bson::Value if_empty;            // kFirst: the result of an empty window ($shift's default)
  std::optional<int64_t> unit_ms;  // $derivative and $integral
  std::optional<bson::Decimal128> alpha;  // $expMovingAvg
  std::unique_ptr<Expression> n;          // $firstN and similar functions
  std::optional<Sort> order;              // $top and similar functions
  // kState: the states for windows that begin with the partition, and for others. A function whose
  // windows always begin with the partition has no `make_sliding`.
  MakeWindowState make_growing = nullptr;
  MakeWindowState make_sliding = nullptr;

  // Adds the fields that the function reads.
  void add_needs(FieldDependencies& needs) const;
};

// Parses the value of an output field. `sort` is the stage's sortBy, or null.
Result<WindowFunction> parse_window_function(std::string_view field, bson::ValueView value,
                                             const Sort* sort, VariableScope& scope);

}  // namespace gridmount::query
