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
  // Only for kState. make_growing makes the state of a window that begins at the beginning of the
  // partition. make_sliding makes the state of any other window. make_sliding is null if the
  // function never has such a window.
  MakeWindowState make_growing = nullptr;
  MakeWindowState make_sliding = nullptr;

  // Adds the fields that the function reads.
  void add_needs(FieldDependencies& needs) const;
};

// Parses the value of an output field. `sort` is the stage's sortBy, or null. Fails with
// FailedToParse for an unknown function or an invalid form, and some functions fail with codes of
// their own, such as 5371602. Also fails as parse_window_bounds(), parse_accumulated_field() and
// parse_expression() do.
Result<WindowFunction> parse_window_function(std::string_view field, bson::ValueView value,
                                             const Sort* sort, VariableScope& scope);

}  // namespace gridmount::query
