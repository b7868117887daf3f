#include "engine/query/projection/projected_expressions.h"

#include "engine/query/filter/variables.h"

namespace gridmount::query {

Result<ProjectedExpressions> ProjectedExpressions::with(bson::View variables, bson::Date now) {
  ProjectedExpressions made;
  for (const bson::Element variable : variables) GM_TRY(made.scope_.declare(variable.key));
  made.variables_ = bson::Document(variables);
  made.now_ = now;
  return made;
}

Result<std::unique_ptr<Expression>> ProjectedExpressions::parse(bson::ValueView value) {
  return parse_expression(value, scope_);
}

EvaluationContext ProjectedExpressions::context(bson::View document, Arena& arena) const {
  EvaluationContext context{document, {}, arena, now_};
  for (const bson::Element variable : variables_.view()) {
    context.variables.push_back(value_of_variable(variable));
  }
  context.variables.resize(scope_.slots());
  return context;
}

}  // namespace gridmount::query
