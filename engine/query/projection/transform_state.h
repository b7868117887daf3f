// The memory that a projection or a stage uses to transform documents, one after another. Internal
// to engine/query.
//
// Thread-safety: one thread at a time may use a TransformState.
#pragma once

#include <optional>
#include <vector>

#include "engine/bson/value.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/output.h"

namespace gridmount::query {

struct TransformState {
  // The arguments are those of the constructor of Evaluator.
  TransformState(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now,
                 const bson::StringOrder* strings)
      : evaluator(variables, now, strings) {}

  Evaluator evaluator;
  DocumentOutput output;
  // The text score of the current document. The caller sets it before it transforms the document.
  std::optional<double> text_score;
  // The values of a projection's computed fields for the current document, by
  // ProjectionNode::computed_at. The outer optional is empty until the field has been evaluated.
  // The inner optional is empty if the value is missing.
  std::vector<std::optional<std::optional<bson::ValueView>>> computed;
};

}  // namespace gridmount::query
