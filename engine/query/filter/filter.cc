#include "engine/query/filter/filter.h"

#include <algorithm>
#include <utility>

#include "engine/query/filter/predicate.h"
#include "engine/query/interruption.h"

namespace gridmount::query {
namespace {

// The interruption is checked every 65,536 steps (interruption.cc). Most tests are quick, so a test
// counts fewer steps than a round of a loop. Most bytes are skipped, so 64 bytes count as one step.
constexpr size_t kStepsOfATest = 64;
constexpr size_t kBytesPerStep = 64;

using Equalities = std::vector<std::pair<std::string, bson::ValueView>>;

void collect_equalities(const Filter& filter, Equalities& equalities) {
  if (filter.kind() == Filter::Kind::kAnd) {
    for (const Filter& child : filter.children()) collect_equalities(child, equalities);
  } else if (filter.kind() == Filter::Kind::kPredicate &&
             filter.predicate().kind() == Predicate::Kind::kEqual) {
    equalities.emplace_back(filter.predicate().path().dotted(), *filter.predicate().operand());
  }
}

}  // namespace

bool MatchContext::has_ended(size_t bytes) {
  if (error) return true;
  if (Status checked = check_interruption_of(kStepsOfATest + bytes / kBytesPerStep); !checked) {
    fail(std::move(checked).error());
  }
  return error.has_value();
}

bool Filter::test(bson::View document, MatchContext& context) const {
  if (context.has_ended(document.size())) return true;
  const auto match = [&](const Filter& child) { return child.test(document, context); };
  switch (kind_) {
    case Kind::kPredicate:
      return predicate_->test(document, context);
    case Kind::kAnd:
      return std::all_of(children_.begin(), children_.end(), match);
    case Kind::kOr:
      return std::any_of(children_.begin(), children_.end(), match);
    case Kind::kNor:
      return std::none_of(children_.begin(), children_.end(), match);
    case Kind::kNot:
      return !std::all_of(children_.begin(), children_.end(), match);
  }
  return false;
}

bool has_text_search(bson::View specification) {
  for (const bson::Element element : specification) {
    if (element.key == "$text") return true;
    if (!is_logical_operator(element.key) || element.value.type() != bson::Type::kArray) continue;
    for (const bson::Element branch : element.value.as_document()) {
      if (branch.value.type() == bson::Type::kDocument &&
          has_text_search(branch.value.as_document())) {
        return true;
      }
    }
  }
  return false;
}

const TextQuery* Filter::text_query() const {
  if (kind_ == Kind::kPredicate) return predicate_->text_query();
  for (const Filter& child : children_) {
    if (const TextQuery* const query = child.text_query()) return query;
  }
  return nullptr;
}

Result<bool> Filter::evaluate(bson::View document, EvaluationContext* evaluation) const {
  MatchContext context{evaluation, std::nullopt};
  const bool matches = test(document, context);
  if (context.error) return fail(*std::move(context.error));
  return matches;
}

bool Filter::matches(bson::View document) const {
  MatchContext context;
  return test(document, context) && !context.error;
}

void Filter::add_paths(std::set<std::string>& paths) const {
  if (kind_ == Kind::kPredicate) paths.insert(predicate_->path().dotted());
  for (const Filter& child : children_) child.add_paths(paths);
}

Equalities Filter::equalities() const {
  Equalities equalities;
  collect_equalities(*this, equalities);
  return equalities;
}

}  // namespace gridmount::query
