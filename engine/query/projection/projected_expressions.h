// The expressions of one projection, and what they are evaluated with. Internal to this folder.
#pragma once

#include <memory>

#include "engine/bson/document.h"
#include "engine/error.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

class ProjectedExpressions {
 public:
  // The variables' values by name; `now` is $$NOW.
  static Result<ProjectedExpressions> with(bson::View variables, bson::Date now);

  Result<std::unique_ptr<Expression>> parse(bson::ValueView value);

  // For all that was parsed here. Views the arena and this.
  EvaluationContext context(bson::View document, Arena& arena) const;

 private:
  VariableScope scope_;
  bson::Document variables_;  // in the order of their slots, which are the first
  bson::Date now_;
};

}  // namespace gridmount::query
