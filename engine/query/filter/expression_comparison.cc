#include "engine/query/filter/expression_comparison.h"

#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class ComparisonPredicate : public Predicate {
 public:
  ComparisonPredicate(FieldComparison comparison, const SharedCollator& collator)
      : kind_(comparison.kind),
        path_(comparison.path),
        operand_(std::move(comparison.operand)),
        collator_(depends_on_strings(operand_.type()) ? collator : nullptr) {}

  // A document with an array on the path always matches, because the expression compares an array,
  // which it builds from the values in the elements.
  bool test(bson::View document, MatchContext&) const override {
    const std::vector<std::string>& names = path_.parts();
    std::optional<ValueView> value;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i > 0) {
        if (value->type() != Type::kDocument) return compares(std::nullopt);
        document = value->as_document();
      }
      value = document.find(names[i]);
      if (!value) return compares(std::nullopt);
      if (value->type() == Type::kArray) return true;
    }
    return compares(value);
  }
  Kind kind() const override {
    switch (kind_) {
      case Comparison::Kind::kEqual:
        return Kind::kExpressionEqual;
      case Comparison::Kind::kLess:
        return Kind::kExpressionLess;
      case Comparison::Kind::kLessEqual:
        return Kind::kExpressionLessEqual;
      case Comparison::Kind::kGreater:
        return Kind::kExpressionGreater;
      case Comparison::Kind::kGreaterEqual:
        break;
    }
    return Kind::kExpressionGreaterEqual;
  }
  const bson::Path& path() const override { return path_; }
  const bson::Value* operand() const override { return &operand_; }
  bool is_collated() const override { return collator_ != nullptr; }

 private:
  bool compares(const std::optional<ValueView>& value) const {
    const std::weak_ordering order =
        compare_expression_values(value, operand_.view(), collator_.get());
    switch (kind_) {
      case Comparison::Kind::kEqual:
        return order == 0;
      case Comparison::Kind::kLess:
        return order < 0;
      case Comparison::Kind::kLessEqual:
        return order <= 0;
      case Comparison::Kind::kGreater:
        return order > 0;
      case Comparison::Kind::kGreaterEqual:
        break;
    }
    return order >= 0;
  }

  const Comparison::Kind kind_;
  const bson::Path path_;
  const bson::Value operand_;
  const SharedCollator collator_;  // null if it does not matter for the operand
};

std::string_view operator_of(Comparison::Kind kind) {
  switch (kind) {
    case Comparison::Kind::kEqual:
      return "$eq";
    case Comparison::Kind::kLess:
      return "$lt";
    case Comparison::Kind::kLessEqual:
      return "$lte";
    case Comparison::Kind::kGreater:
      return "$gt";
    case Comparison::Kind::kGreaterEqual:
      break;
  }
  return "$gte";
}

}  // namespace

std::vector<FieldComparison> implied_comparisons(
    const Expression& expression, const std::vector<std::optional<bson::ValueView>>& variables,
    bson::Date now, const bson::StringOrder* strings) {
  std::vector<Comparison> comparisons;
  expression.add_comparisons(comparisons);
  std::vector<FieldComparison> implied;
  if (comparisons.empty()) return implied;
  Arena arena;
  EvaluationContext context{bson::View(), variables, arena, now, strings};
  for (Comparison& comparison : comparisons) {
    const Result<std::optional<ValueView>> operand = comparison.operand->evaluate(context);
    if (!operand || !*operand) continue;
    const Type type = (*operand)->type();
    if (type == Type::kArray || type == Type::kUndefined) continue;
    implied.push_back({comparison.kind, std::move(comparison.path), bson::Value(**operand)});
  }
  return implied;
}

bson::Document filter_of(const FieldComparison& comparison) {
  bson::Builder filter;
  filter.open_document("$expr").open_array(operator_of(comparison.kind));
  filter.push(bson::Value("$" + comparison.path).view());
  filter.push_open_document().append("$literal", comparison.operand).close();
  filter.close().close();
  return std::move(filter).finish();
}

std::unique_ptr<Predicate> predicate_of(FieldComparison comparison,
                                        const SharedCollator& collator) {
  return std::make_unique<ComparisonPredicate>(std::move(comparison), collator);
}

}  // namespace gridmount::query
