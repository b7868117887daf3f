// $addToSet, $pop, $pull and $pullAll. Source: MongoDB manual, "Array Update Operators".

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/text.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// A set of values. Values that compare equal are one member of the set: 1 is the same as 1.0.
class ValueSet {
 public:
  static Result<ValueSet> of(bson::View elements, const SharedCollator& collator) {
    ValueSet set(collator);
    for (const bson::Element element : elements) set.given_.emplace_back(element.value);
    GM_TRY(set.index());
    return set;
  }
  ValueSet(ValueView only, const SharedCollator& collator)
      : collator_(collator), given_{Value(only)}, sorted_{0}, distinct_{true} {}

  // Returns the index of the first given value that equals `value`, if any.
  std::optional<size_t> find(ValueView value) const {
    const auto at = std::lower_bound(
        sorted_.begin(), sorted_.end(), value,
        [this](size_t known, ValueView wanted) { return less(given_[known], wanted); });
    if (at == sorted_.end() || less(value, given_[*at])) return std::nullopt;
    return *at;
  }
  // Returns the values as given. is_distinct() is true for the first one of equal values.
  const std::vector<Value>& given() const { return given_; }
  bool is_distinct(size_t i) const { return distinct_[i]; }

 private:
  explicit ValueSet(SharedCollator collator) : collator_(std::move(collator)) {}

  bool less(ValueView a, ValueView b) const { return bson::compare(a, b, collator_.get()) < 0; }

  Status index() {
    for (size_t i = 0; i < given_.size(); ++i) sorted_.push_back(i);
    GM_TRY(sort_interruptibly(sorted_,
                              [this](size_t a, size_t b) { return less(given_[a], given_[b]); }));
    const auto same = [this](size_t a, size_t b) { return !less(given_[a], given_[b]); };
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
    distinct_.resize(given_.size());
    for (const size_t i : sorted_) distinct_[i] = true;
    return {};
  }

  SharedCollator collator_;
  std::vector<Value> given_;
  std::vector<size_t> sorted_;
  std::vector<bool> distinct_;
};

struct Addition : PreparedOperand {
  explicit Addition(ValueSet set) : values(std::move(set)) {}
  ValueSet values;
};

// Decides which elements $pull and $pullAll remove.
struct PullRule : PreparedOperand {
  virtual Result<bool> removes(ValueView element) const = 0;
};

class PullOfValues : public PullRule {
 public:
  explicit PullOfValues(ValueSet values) : values_(std::move(values)) {}
  Result<bool> removes(ValueView element) const override {
    return values_.find(element).has_value();
  }

 private:
  ValueSet values_;
};

// Removes documents that match a filter.
class PullOfDocuments : public PullRule {
 public:
  explicit PullOfDocuments(Filter filter) : filter_(std::move(filter)) {}
  Result<bool> removes(ValueView element) const override {
    if (element.type() != Type::kDocument) return false;
    return filter_.evaluate(element.as_document());
  }

 private:
  Filter filter_;
};

// Removes elements that match operators or a regular expression. The filter is on a field named "".
class PullByOperators : public PullRule {
 public:
  explicit PullByOperators(Filter filter) : filter_(std::move(filter)) {}
  Result<bool> removes(ValueView element) const override {
    bson::Builder holder;
    holder.append("", element);
    return filter_.evaluate(std::move(holder).finish());
  }

 private:
  Filter filter_;
};

// True for {$gt: 5}. False for {price: {$gt: 5}} and {$or: [...]}.
bool holds_operators(ValueView condition) {
  return is_operator_document(condition) &&
         !is_logical_operator((*condition.as_document().begin()).key);
}

template <typename Kept>
UpdateOutcome elements_of(bson::View array, const Kept& kept) {
  bson::Builder builder;
  builder.open_array("");
  bool all = true;
  for (const bson::Element element : array) {
    if (kept(element.value)) {
      builder.push(element.value);
    } else {
      all = false;
    }
  }
  if (all) return UpdateOutcome::keep();
  builder.close();
  return UpdateOutcome::set_first_of(std::move(builder).finish());
}

}  // namespace

Result<std::unique_ptr<const PreparedOperand>> prepare_add_to_set(std::string_view,
                                                                  ValueView operand,
                                                                  const SharedCollator& collator) {
  const bool each = operand.type() == Type::kDocument && !operand.as_document().empty() &&
                    (*operand.as_document().begin()).key == "$each";
  if (!each) return std::make_unique<Addition>(ValueSet(operand, collator));
  const bson::View clauses = operand.as_document();
  const ValueView elements = (*clauses.begin()).value;
  if (elements.type() != Type::kArray) {
    return fail(ErrorCode::kTypeMismatch,
                "The argument to $each in $addToSet must be an array but it was of type " +
                    std::string(bson::type_alias(elements.type())));
  }
  if (std::next(clauses.begin()) != clauses.end()) {
    return fail(ErrorCode::kBadValue,
                "Found unexpected fields after $each in $addToSet: " + bson::to_text(operand));
  }
  GM_ASSIGN(ValueSet values, ValueSet::of(elements.as_document(), collator));
  return std::make_unique<Addition>(std::move(values));
}

Result<UpdateOutcome> apply_add_to_set(const UpdateCall& call,
                                       const std::optional<ValueView>& current) {
  const ValueSet& values = static_cast<const Addition&>(*call.prepared).values;
  if (current && current->type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, "Cannot apply $addToSet to non-array field. Field named '" +
                                          std::string(call.names.back()) + "' has non-array type " +
                                          std::string(bson::type_alias(current->type())));
  }
  bson::Builder builder;
  builder.open_array("");
  std::vector<bool> present(values.given().size());
  if (current) {
    for (const bson::Element element : current->as_document()) {
      GM_TRY(check_interruption());
      if (const std::optional<size_t> known = values.find(element.value)) present[*known] = true;
      builder.push(element.value);
    }
  }
  bool added = !current;
  for (size_t i = 0; i < values.given().size(); ++i) {
    if (!values.is_distinct(i) || present[i]) continue;
    builder.push(values.given()[i]);
    added = true;
  }
  if (!added) return UpdateOutcome::keep();
  builder.close();
  return UpdateOutcome::set_first_of(std::move(builder).finish());
}

Status check_pop(std::string_view path, ValueView operand) {
  const std::optional<int64_t> number = operand.integral();
  if (!number) {
    return fail(ErrorCode::kFailedToParse,
                (operand.is_number() ? "Expected an integer: " : "Expected a number in: ") +
                    show_element(path, operand));
  }
  if (*number == 1 || *number == -1) return {};
  return fail(ErrorCode::kFailedToParse, "$pop expects 1 or -1, found: " + std::to_string(*number));
}

Result<UpdateOutcome> apply_pop(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (!current) return UpdateOutcome::keep();
  if (current->type() != Type::kArray) {
    return fail(ErrorCode::kTypeMismatch, "Path '" + call.path() +
                                              "' contains an element of non-array type '" +
                                              std::string(bson::type_alias(current->type())) + "'");
  }
  const bson::View array = current->as_document();
  const bool from_front = call.operand.view().integral() == -1;
  const auto last = std::distance(array.begin(), array.end()) - 1;
  std::ptrdiff_t at = 0;
  return elements_of(array, [&](ValueView) { return at++ != (from_front ? 0 : last); });
}

Result<std::unique_ptr<const PreparedOperand>> prepare_pull(std::string_view, ValueView operand,
                                                            const SharedCollator& collator) {
  if (operand.type() == Type::kRegex || holds_operators(operand)) {
    bson::Builder holder;
    holder.append("", operand);
    GM_ASSIGN(Filter filter, Filter::parse(std::move(holder).finish(),
                                           {.special_operators = false, .collator = collator}));
    return std::make_unique<PullByOperators>(std::move(filter));
  }
  if (operand.type() == Type::kDocument) {
    GM_ASSIGN(Filter filter, Filter::parse(operand.as_document(),
                                           {.special_operators = false, .collator = collator}));
    return std::make_unique<PullOfDocuments>(std::move(filter));
  }
  return std::make_unique<PullOfValues>(ValueSet(operand, collator));
}

Result<std::unique_ptr<const PreparedOperand>> prepare_pull_all(std::string_view, ValueView operand,
                                                                const SharedCollator& collator) {
  if (operand.type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, "$pullAll requires an array argument but was given a " +
                                          std::string(bson::type_alias(operand.type())));
  }
  GM_ASSIGN(ValueSet values, ValueSet::of(operand.as_document(), collator));
  return std::make_unique<PullOfValues>(std::move(values));
}

Result<UpdateOutcome> apply_pull(const UpdateCall& call, const std::optional<ValueView>& current) {
  if (!current) return UpdateOutcome::keep();
  if (current->type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, "Cannot apply $pull to a non-array value");
  }
  const auto& removal = static_cast<const PullRule&>(*call.prepared);
  Status status;
  UpdateOutcome outcome = elements_of(current->as_document(), [&](ValueView element) {
    if (status) status = check_interruption();
    if (!status) return true;
    const Result<bool> removes = removal.removes(element);
    if (!removes) status = fail(removes.error());
    return !removes || !*removes;
  });
  GM_TRY(status);
  return outcome;
}

}  // namespace gridmount::query
