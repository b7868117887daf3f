// The bounds of a window of $setWindowFields: {documents: [-1, "current"]} or {range: [-7, 0],
// unit: "day"}. Internal to engine/query. Parsed bounds are immutable, so thread-safe.
//
// Source: MongoDB manual, "$setWindowFields".
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/expression/date_arithmetic.h"
#include "engine/query/expression/expression.h"
#include "engine/query/sort.h"

namespace gridmount::query {

struct WindowBound {
  enum class Kind { kUnbounded, kCurrent, kOffset };

  Kind kind = Kind::kUnbounded;
  // kOffset: a number of documents, an amount of the unit, or a difference of sort values.
  bson::Value offset;
};

struct WindowBounds {
  enum class Kind { kDocuments, kRange };

  Kind kind = Kind::kDocuments;
  // Both are inclusive.
  WindowBound lower;
  WindowBound upper;
  std::optional<expressions::TimeUnit> unit;  // for a range of dates
  // The bounds are a range, and the sortBy is descending. As on servers, the stage then fails at
  // its first document (WindowFrame::move_to()), but succeeds without documents.
  bool is_descending = false;

  // Returns the bounds for all documents of the partition up to the current one.
  static WindowBounds up_to_current();
  // Returns the bounds for a single document, which is `offset` documents after the current one.
  static WindowBounds only(int32_t offset);
};

// Parses the bounds. `sort` is the stage's sortBy, or null. Fails with FailedToParse for an invalid
// form, with 5339900 if the lower bound is above the upper one, with 5339901 if there is no sortBy
// for bounds in documents that are not both unbounded, with 5339902 if a range has no sortBy of one
// field, and with the errors of expressions.
Result<WindowBounds> parse_window_bounds(bson::ValueView value, const Sort* sort,
                                         VariableScope& scope);

// Fails with FailedToParse for an unknown unit.
Result<expressions::TimeUnit> parse_time_unit(std::string_view name);

}  // namespace gridmount::query
