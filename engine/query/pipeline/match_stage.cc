// The stage $match.

#include <string>

#include "engine/bson/builder.h"
#include "engine/query/filter/expression_comparison.h"
#include "engine/query/pipeline/basic_stages.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

// The size of a builder to which nothing has been appended.
constexpr uint32_t kEmptyBytes = 4;

class MatchStream : public DocumentStream {
 public:
  // `evaluator` is for $expr in the filter, and null if there is none.
  MatchStream(const Filter& filter, Stream input, std::unique_ptr<Evaluator> evaluator)
      : filter_(filter), input_(std::move(input)), evaluator_(std::move(evaluator)) {}

  Result<std::optional<bson::View>> next() override {
    while (true) {
      Result<std::optional<bson::View>> document = input_->next();
      if (!document || !*document) return document;
      if (evaluator_ != nullptr) evaluator_->begin(**document, input_->text_score());
      EvaluationContext* const context = evaluator_ == nullptr ? nullptr : &evaluator_->context();
      GM_ASSIGN(const bool matches, filter_.evaluate(**document, context));
      if (matches) return document;
    }
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  const Filter& filter_;
  Stream input_;
  std::unique_ptr<Evaluator> evaluator_;
};

// {$match: {$expr: ...}}, with an expression in place of a filter. The expression shows which
// fields the stage reads. A filter with $expr does not.
class ConditionStage : public Stage {
 public:
  explicit ConditionStage(std::unique_ptr<Expression> condition)
      : condition_(std::move(condition)) {}

  std::string_view name() const override { return "$match"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override { needs.add(*condition_); }
  bool is_filter() const override { return true; }
  void add_source_filters(const std::vector<std::optional<ValueView>>& variables, bson::Date now,
                          const bson::StringOrder* strings, bson::Builder& filters) const override {
    for (const FieldComparison& comparison :
         implied_comparisons(*condition_, variables, now, strings)) {
      filters.push(filter_of(comparison));
    }
  }

 private:
  std::unique_ptr<Expression> condition_;
};

class ConditionStream : public DocumentStream {
 public:
  ConditionStream(const Expression& condition, Stream input, const PipelineContext& context)
      : condition_(condition),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()) {}

  Result<std::optional<bson::View>> next() override {
    while (true) {
      Result<std::optional<bson::View>> document = input_->next();
      if (!document || !*document) return document;
      evaluator_.begin(**document, input_->text_score());
      GM_ASSIGN(const std::optional<ValueView> value, evaluator_.evaluate(condition_));
      if (is_true(value)) return document;
    }
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  const Expression& condition_;
  Stream input_;
  Evaluator evaluator_;
};

Result<Stream> ConditionStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<ConditionStream>(*condition_, std::move(input), context);
}

// Returns whether the filter has an expression anywhere. The filter has already been parsed.
bool has_expression(const bson::Element& element) {
  if (element.key == "$expr") return true;
  if (element.key != "$and" && element.key != "$or" && element.key != "$nor") return false;
  for (const bson::Element branch : element.value.as_document()) {
    for (const bson::Element part : branch.value.as_document()) {
      if (has_expression(part)) return true;
    }
  }
  return false;
}

Status add_match(bson::Builder& conditions, bool for_source, const StageCall& call,
                 ParsedStages& stages) {
  bson::Document specification = std::move(conditions).finish();
  FilterOptions options;
  options.scope = &call.scope;
  options.collator = call.scope.collator();
  options.text.search = TextSearch::kDoneBySource;
  GM_ASSIGN(Filter filter, Filter::parse(specification, options));
  stages.push_back(
      std::make_unique<MatchStage>(std::move(specification), std::move(filter), for_source));
  return {};
}

}  // namespace

Result<Stream> MatchStage::open(Stream input, const PipelineContext& context) const {
  std::unique_ptr<Evaluator> evaluator;
  if (!for_source_)
    evaluator = std::make_unique<Evaluator>(context.variables, context.now, context.collator.get());
  return std::make_unique<MatchStream>(filter_, std::move(input), std::move(evaluator));
}

void MatchStage::add_source_filters(const std::vector<std::optional<ValueView>>&, bson::Date,
                                    const bson::StringOrder*, bson::Builder& filters) const {
  if (for_source_) filters.push(specification_);
}

void MatchStage::plan(FieldDependencies& needs) {
  add_filter_needs(specification_, needs);
}

Result<Stream> filtered(Stream input, bson::View filter, const SharedCollator& collator) {
  // Owns the filter that MatchStream refers to.
  class Filtered : public DocumentStream {
   public:
    Filtered(Filter parsed, Stream from)
        : filter_(std::move(parsed)), stream_(filter_, std::move(from), nullptr) {}
    Result<std::optional<bson::View>> next() override { return stream_.next(); }
    std::optional<double> text_score() const override { return stream_.text_score(); }

   private:
    Filter filter_;
    MatchStream stream_;
  };
  GM_ASSIGN(Filter parsed, Filter::parse(filter, {.collator = collator}));
  return std::make_unique<Filtered>(std::move(parsed), std::move(input));
}

void add_filter_needs(bson::View filter, FieldDependencies& needs) {
  for (const bson::Element element : filter) {
    if (!element.key.starts_with('$')) {
      needs.add(element.key);
    } else if (element.key == "$and" || element.key == "$or" || element.key == "$nor") {
      for (const bson::Element branch : element.value.as_document()) {
        add_filter_needs(branch.value.as_document(), needs);
      }
    } else if (element.key != "$comment") {
      // The filter does not show which fields such an operator reads.
      needs.add_all();
    }
  }
}

namespace {

// The parts of a filter that different stages test.
struct MatchParts {
  bson::Builder plain;                             // has no expressions
  bson::Builder with_expressions;                  // has expressions within other operators
  std::vector<std::unique_ptr<Stage>> conditions;  // {$expr: ...}
};

Status split_match(bson::View specification, const StageCall& call, const FilterOptions& options,
                   MatchParts& parts) {
  for (const bson::Element element : specification) {
    if (element.key == "$expr") {
      GM_ASSIGN(std::unique_ptr<Expression> condition, parse_expression(element.value, call.scope));
      parts.conditions.push_back(std::make_unique<ConditionStage>(std::move(condition)));
      continue;
    }
    bson::Builder one;
    one.append(element.key, element.value);
    const bson::Document alone = std::move(one).finish();
    GM_TRY(Filter::parse(alone, options));
    if (!has_expression(element)) {
      parts.plain.append(element.key, element.value);
    } else if (!has_text_search(alone)) {
      parts.with_expressions.append(element.key, element.value);
    } else if (element.key == "$and") {
      // The source must get the $text, without the expression beside it.
      for (const bson::Element branch : element.value.as_document()) {
        GM_TRY(split_match(branch.value.as_document(), call, options, parts));
      }
    } else {
      constexpr ErrorCode kNoQueryExecutionPlans{291};
      return fail(
          kNoQueryExecutionPlans,
          "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR "
          "have to be indexed as well.");
    }
  }
  return {};
}

}  // namespace

Status parse_match(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{15959}, "the match filter must be an expression in an object");
  }
  const bson::View specification = call.value.as_document();
  FilterOptions options;
  options.scope = &call.scope;
  options.collator = call.scope.collator();
  options.text.search = TextSearch::kDoneBySource;
  if (has_text_search(specification)) {
    if (!stages.empty() || call.level == PipelineLevel::kFacet) {
      return fail(ErrorCode{17313},
                  "$match with $text is only allowed as the first pipeline stage");
    }
    call.scope.set_has_text_score(true);
  }
  // A source does not know the variables. So it gets only conditions without expressions.
  MatchParts parts;
  GM_TRY(split_match(specification, call, options, parts));
  bson::Builder& plain = parts.plain;
  bson::Builder& with_expressions = parts.with_expressions;
  std::vector<std::unique_ptr<Stage>>& conditions = parts.conditions;
  const bool has_nested = with_expressions.size() > kEmptyBytes;
  if (plain.size() > kEmptyBytes || (conditions.empty() && !has_nested)) {
    GM_TRY(add_match(plain, true, call, stages));
  }
  if (has_nested) GM_TRY(add_match(with_expressions, false, call, stages));
  for (std::unique_ptr<Stage>& condition : conditions) stages.push_back(std::move(condition));
  return {};
}

}  // namespace gridmount::query
