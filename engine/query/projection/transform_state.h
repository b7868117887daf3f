// What makes one document of each works with, document after document. Internal to engine/query.
//
// Thread-safety: one thread at a time.
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
  Output output;
  // The values of computed fields for the present document, as far as they were asked for.
  std::vector<std::optional<std::optional<bson::ValueView>>> computed;
};

}  // namespace gridmount::query
