// Evaluates expressions for many documents, one document at a time. Internal to engine/query.
//
// Must be used by one thread at a time.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/expression/expression.h"

namespace gridmount::query {

class Evaluator {
 public:
  // Copies the views of `variables`. The values that these views show must outlive the evaluator.
  // `now` is the value of $$NOW. `strings` is the order of strings, and must outlive the evaluator.
  // If `strings` is null, strings are compared as bytes.
  Evaluator(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now,
            const bson::StringOrder* strings)
      : context_{bson::View(), variables, arena_, now, strings, std::nullopt} {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Must be called before the evaluations for a document. Makes `document` the root of the
  // following evaluations, and `text_score` its text score. Makes all results of earlier
  // evaluations invalid.
  void begin(bson::View document, std::optional<double> text_score = std::nullopt) {
    arena_.clear();
    context_.root = document;
    context_.text_score = text_score;
  }
  // Returns the value of the expression, or nullopt for "missing". The view is valid until the next
  // begin(), but not longer than the root document, the expression and the values of the variables.
  // Fails with the errors of the operators in the expression.
  Result<std::optional<bson::ValueView>> evaluate(const Expression& expression) {
    return expression.evaluate(context_);
  }
  // For callers that evaluate in other ways. The reference is valid as long as this object.
  EvaluationContext& context() { return context_; }

 private:
  Arena arena_;
  EvaluationContext context_;
};

}  // namespace gridmount::query
