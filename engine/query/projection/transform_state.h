// The working memory for transforming documents one after the other. Internal to engine/query.
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
  TransformState(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now)
      : evaluator(variables, now) {}

  Evaluator evaluator;
  DocumentOutput output;
  // The values of the computed fields for the current document, as far as they have been evaluated.
  std::vector<std::optional<std::optional<bson::ValueView>>> computed;
};

}  // namespace gridmount::query
