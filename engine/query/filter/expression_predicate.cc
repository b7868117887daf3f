// {$expr: ...}: an aggregation expression on the document, which must be true. Source: MongoDB
// manual, "$expr".

#include "engine/query/expression/evaluation.h"
#include "engine/query/filter/expression_comparison.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::ValueView;

class ExpressionPredicate : public DocumentPredicate {
 public:
  ExpressionPredicate(std::unique_ptr<Expression> expression, const FilterOptions& options)
      : expression_(std::move(expression)),
        variables_(options.variables),
        now_(options.now),
        collator_(options.collator) {
    if (!now_) return;  // the value of $$NOW differs from match to match
    const std::vector<std::optional<ValueView>> known(variables_.begin(), variables_.end());
    for (FieldComparison& comparison :
         implied_comparisons(*expression_, known, *now_, collator_.get())) {
      implied_.push_back(predicate_of(std::move(comparison), collator_));
    }
  }

  bool test(bson::View document, MatchContext& context) const override {
    if (context.evaluation != nullptr) return test_in(*context.evaluation, document, context);
    // Expressions do not match filters, so no evaluation of this thread is already using the arena.
    thread_local Arena arena;
    arena.clear();
    EvaluationContext own{document, {}, arena, now_ ? *now_ : bson::Date::now(), collator_.get()};
    own.variables.assign(variables_.begin(), variables_.end());
    const bool result = test_in(own, document, context);
    arena.clear();
    return result;
  }

  std::span<const std::unique_ptr<Predicate>> implied() const override { return implied_; }

 private:
  bool test_in(EvaluationContext& evaluation, bson::View document, MatchContext& context) const {
    const bson::View root = evaluation.root;
    const auto mark = expressions::ArenaAccess::mark(evaluation.arena);
    evaluation.root = document;
    Result<std::optional<ValueView>> value = expression_->evaluate(evaluation);
    const bool result = value && is_true(*value);
    if (!value) context.fail(std::move(value).error());
    expressions::ArenaAccess::rewind(evaluation.arena, mark);
    evaluation.root = root;
    return result;
  }

  std::unique_ptr<Expression> expression_;
  std::vector<std::optional<bson::Value>> variables_;
  std::optional<bson::Date> now_;
  SharedCollator collator_;
  std::vector<std::unique_ptr<Predicate>> implied_;
};

}  // namespace

Result<std::unique_ptr<Predicate>> parse_expression_predicate(const bson::Element& element,
                                                              const FilterPosition& place) {
  VariableScope none;
  none.set_collator(place.options.collator);
  VariableScope& scope = place.options.scope != nullptr ? *place.options.scope : none;
  GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(element.value, scope));
  return std::unique_ptr<Predicate>(
      std::make_unique<ExpressionPredicate>(std::move(expression), place.options));
}

}  // namespace gridmount::query
