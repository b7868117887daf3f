// The memory for transforming documents one after another. Internal to engine/query.
//
// Used by one thread at a time.
#pragma once

#include <optional>
#include <vector>

#include "engine/bson/value.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/output.h"

namespace gridmount::query {

struct TransformState {
  // As in Evaluator.
  TransformState(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now,
                 const bson::StringOrder* strings)
      : evaluator(variables, now, strings) {}

  Evaluator evaluator;
  DocumentOutput output;
  // The text score of the current document. Callers set it before they transform the document.
  std::optional<double> text_score;
  // The values of the computed fields for the current document. A field that has not been evaluated
  // yet has no value.
  std::vector<std::optional<std::optional<bson::ValueView>>> computed;
};

}  // namespace gridmount::query
