// Filter::matched_position() and projected_position(): find the array element that made a document
// match. This code is separate from matching, because matching is the hot path and must not track
// positions. Source: MongoDB manual, "$ (update)".

#include "engine/query/filter/matched_position.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Parts = std::span<const std::string>;

// A match of a test. `position` is the position of the matching element in the outermost array, if
// an array was searched.
struct Found {
  std::optional<size_t> position;
};

std::optional<Found> find_in_document(const ValueTest& test, bson::View document, Parts parts);

std::optional<Found> find_reached(const ValueTest& test, ValueView value) {
  // An array exists whatever its elements are, so a match need not test the elements. Servers test
  // them, and report the position of the first one.
  const bool tests_elements = test.tests_elements() || test.kind() == Predicate::Kind::kExists;
  if (value.type() == Type::kArray && tests_elements) {
    size_t position = 0;
    for (const bson::Element element : value.as_document()) {
      if (test.test(element.value)) return Found{position};
      ++position;
    }
  }
  if (test.test(value)) return Found{test.matching_element(value)};
  return std::nullopt;
}

std::optional<size_t> position_of(std::string_view part) {
  size_t position = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), position);
  if (part.empty() || error != std::errc() || end != part.data() + part.size()) {
    return std::nullopt;
  }
  return position;
}

std::optional<Found> find_in_array(const ValueTest& test, bson::View array, Parts parts);

std::optional<Found> find_below(const ValueTest& test, ValueView value, Parts rest,
                                bool otherwise) {
  if (rest.empty()) return find_reached(test, value);
  if (value.type() == Type::kDocument) return find_in_document(test, value.as_document(), rest);
  if (value.type() == Type::kArray) return find_in_array(test, value.as_document(), rest);
  return otherwise ? std::optional(Found{}) : std::nullopt;
}

std::optional<Found> find_in_document(const ValueTest& test, bson::View document, Parts parts) {
  const std::optional<ValueView> value = document.find(parts.front());
  if (!value) return test.test_missing() ? std::optional(Found{}) : std::nullopt;
  return find_below(test, *value, parts.subspan(1), test.test_missing());
}

std::optional<Found> find_in_array(const ValueTest& test, bson::View array, Parts parts) {
  size_t position = 0;
  for (const bson::Element element : array) {
    if (element.value.type() == Type::kDocument &&
        find_in_document(test, element.value.as_document(), parts)) {
      return Found{position};
    }
    ++position;
  }
  const std::optional<size_t> named = position_of(parts.front());
  const std::optional<ValueView> value = named ? array.find(parts.front()) : std::nullopt;
  if (!value) return std::nullopt;
  const bool found = parts.size() == 1
                         ? test.test(*value)
                         : find_below(test, *value, parts.subspan(1), false).has_value();
  // A path that names a position in the array has not searched the array.
  return found ? std::optional(Found{}) : std::nullopt;
}

// Returns null if the filter is not a single predicate.
const Predicate* predicate_of(const Filter& filter) {
  return filter.kind() == Filter::Kind::kPredicate ? &filter.predicate() : nullptr;
}

// Returns true if the conditions of an $or are equivalent to an $in.
bool are_like_in(const std::vector<Filter>& filters) {
  const Predicate* const first = predicate_of(filters.front());
  return first != nullptr && std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
           const Predicate* const predicate = predicate_of(filter);
           return predicate != nullptr && predicate->path().dotted() == first->path().dotted() &&
                  (predicate->kind() == Predicate::Kind::kEqual ||
                   predicate->kind() == Predicate::Kind::kRegex);
         });
}

// Servers test the conditions of an update's $and in their own order: by the kind of the condition,
// then by the path.
int rank_of(Predicate::Kind kind) {
  switch (kind) {
    case Predicate::Kind::kExpressionEqual:
    case Predicate::Kind::kExpressionLess:
    case Predicate::Kind::kExpressionLessEqual:
    case Predicate::Kind::kExpressionGreater:
    case Predicate::Kind::kExpressionGreaterEqual:
    case Predicate::Kind::kText:
    case Predicate::Kind::kOther:  // in particular $elemMatch
      return 0;
    case Predicate::Kind::kEqual:
      return 1;
    case Predicate::Kind::kLessEqual:
      return 2;
    case Predicate::Kind::kLess:
      return 3;
    case Predicate::Kind::kGreater:
      return 4;
    case Predicate::Kind::kGreaterEqual:
      return 5;
    case Predicate::Kind::kRegex:
      return 6;
    case Predicate::Kind::kExists:
      return 7;
    case Predicate::Kind::kIn:
      return 8;
    case Predicate::Kind::kType:
      return 9;
  }
  return 0;
}

bool is_tested_before(const Filter* a, const Filter* b) {
  const Predicate* const left = predicate_of(*a);
  const Predicate* const right = predicate_of(*b);
  if (left == nullptr || right == nullptr) return left == nullptr && right != nullptr;
  if (left->kind() != right->kind()) return rank_of(left->kind()) < rank_of(right->kind());
  return left->path().dotted() < right->path().dotted();
}

enum class Order { kOfServers, kAsWritten };

std::optional<size_t> position_in(const Filter& filter, bson::View document, Order order);

// The last tested condition that has a position decides.
std::optional<size_t> position_in_all(const std::vector<Filter>& filters, bson::View document,
                                      Order order) {
  std::vector<const Filter*> conditions;
  for (const Filter& filter : filters) conditions.push_back(&filter);
  if (order == Order::kOfServers) {
    std::stable_sort(conditions.begin(), conditions.end(), is_tested_before);
  }
  std::optional<size_t> last;
  for (const Filter* const condition : conditions) {
    const std::optional<size_t> position = position_in(*condition, document, order);
    if (position) last = position;
  }
  return last;
}

// Returns the position of the first element that matches one of the conditions. Servers report a
// position only for an $or that has a single condition or is equivalent to an $in.
std::optional<size_t> position_in_any(const std::vector<Filter>& filters, bson::View document,
                                      Order order) {
  if (filters.size() == 1) return position_in(filters.front(), document, order);
  if (!are_like_in(filters)) return std::nullopt;
  std::optional<size_t> first;
  for (const Filter& filter : filters) {
    if (!filter.matches(document)) continue;
    const std::optional<size_t> position = position_in(filter, document, order);
    if (position && (!first || *position < *first)) first = position;
  }
  return first;
}

std::optional<size_t> position_in(const Filter& filter, bson::View document, Order order) {
  switch (filter.kind()) {
    case Filter::Kind::kPredicate:
      return filter.predicate().matched_position(document);
    case Filter::Kind::kAnd:
      return position_in_all(filter.children(), document, order);
    case Filter::Kind::kOr:
      return position_in_any(filter.children(), document, order);
    case Filter::Kind::kNor:
    case Filter::Kind::kNot:
      // A condition that must not match has no position.
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> PathPredicate::matched_position(bson::View document) const {
  const std::optional<Found> found = find_in_document(*test_, document, path_.parts());
  return found ? found->position : std::nullopt;
}

std::optional<size_t> Filter::matched_position(bson::View document) const {
  return position_in(*this, document, Order::kOfServers);
}

std::optional<size_t> projected_position(const Filter& filter, bson::View document) {
  return position_in(filter, document, Order::kAsWritten);
}

}  // namespace gridmount::query
