// A parsed function of $setWindowFields, such as {$sum: "$x", window: {documents: [-1, 0]}}.
// Internal to engine/query. Immutable, so thread-safe.
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
  // The way in which the result is computed (window_evaluation.h).
  enum class Kind { kState, kFirst, kLast, kDerivative, kLinearFill };

  Kind kind = Kind::kState;
  WindowBounds bounds;
  std::unique_ptr<Expression> input;       // never null
  std::unique_ptr<Expression> sort_value;  // reads the only field of sortBy; null if sortBy does
                                           // not have exactly one field
  bson::Value if_empty;            // kFirst: the result for an empty window (`default` of $shift)
  std::optional<int64_t> unit_ms;  // $derivative and $integral
  std::optional<bson::Decimal128> alpha;  // $expMovingAvg
  std::unique_ptr<Expression> n;          // $firstN and similar functions
  std::optional<Sort> order;              // $top and similar functions
  // kState: make_growing makes the state for a window that begins with the partition, and
  // make_sliding for any other window. If all windows of a function begin with the partition,
  // make_sliding is null.
  MakeWindowState make_growing = nullptr;
  MakeWindowState make_sliding = nullptr;

  // Adds the fields that the function reads.
  void add_needs(FieldDependencies& needs) const;
};

// Parses the value of an output field. `sort` is the stage's sortBy, or null. Fails with
// FailedToParse for an unknown function or an invalid form, with the codes of the function, as
// parse_window_bounds() does, and with the errors of expressions.
Result<WindowFunction> parse_window_function(std::string_view field, bson::ValueView value,
                                             const Sort* sort, VariableScope& scope);

}  // namespace gridmount::query
