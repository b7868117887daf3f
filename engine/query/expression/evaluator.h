// Evaluates expressions for many documents, one document at a time. Internal to engine/query. Used
// by one thread at a time.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/expression/expression.h"

namespace gridmount::query {

class Evaluator {
 public:
  // Copies the views of `variables`, whose values must outlive the evaluator. `now` is $$NOW.
  // `strings` is the order of strings, which must outlive the evaluator. Null: as bytes.
  Evaluator(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now,
            const bson::StringOrder* strings)
      : context_{bson::View(), variables, arena_, now, strings, std::nullopt} {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Makes `document` the root of the following evaluations, and `text_score` its text score. Makes
  // all results of earlier evaluations invalid.
  void begin(bson::View document, std::optional<double> text_score = std::nullopt) {
    arena_.clear();
    context_.root = document;
    context_.text_score = text_score;
  }
  Result<std::optional<bson::ValueView>> evaluate(const Expression& expression) {
    return expression.evaluate(context_);
  }
  EvaluationContext& context() { return context_; }

 private:
  Arena arena_;
  EvaluationContext context_;
};

}  // namespace gridmount::query
