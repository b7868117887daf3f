// Filter::matched_position(): finds the array element that made a document match. Separate from
// matching, which is the hot path and must not track positions. Source: MongoDB manual, "$
// (update)".

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

// The test matches. `position` is the matching element of the outermost array, if an array was
// searched.
struct Found {
  std::optional<size_t> position;
};

std::optional<Found> find_in_document(const ValueTest& test, bson::View document, Parts parts);

std::optional<Found> find_reached(const ValueTest& test, ValueView value) {
  if (value.type() == Type::kArray && test.tests_elements()) {
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

bool is_about_one_path(const std::vector<Filter>& filters) {
  const Predicate* const first = predicate_of(filters.front());
  return first != nullptr && std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
           const Predicate* const predicate = predicate_of(filter);
           return predicate != nullptr && predicate->path().dotted() == first->path().dotted();
         });
}

// Servers test the conditions of an $and in their own order: by the kind of the condition, then by
// the path.
int rank_of(Predicate::Kind kind) {
  switch (kind) {
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

}  // namespace

std::optional<size_t> PathPredicate::matched_position(bson::View document) const {
  const std::optional<Found> found = find_in_document(*test_, document, path_.parts());
  return found ? found->position : std::nullopt;
}

std::optional<size_t> Filter::matched_position(bson::View document) const {
  switch (kind_) {
    case Kind::kPredicate:
      return predicate_->matched_position(document);
    case Kind::kAnd: {
      std::vector<const Filter*> children;
      for (const Filter& child : children_) children.push_back(&child);
      std::stable_sort(children.begin(), children.end(), is_tested_before);
      std::optional<size_t> last;
      for (const Filter* child : children) {
        if (const std::optional<size_t> position = child->matched_position(document)) {
          last = position;
        }
      }
      return last;
    }
    case Kind::kOr:
      // Servers report a position for an $or that is equivalent to an $in.
      if (!is_about_one_path(children_)) return std::nullopt;
      for (const Filter& child : children_) {
        if (child.matches(document)) return child.matched_position(document);
      }
      return std::nullopt;
    case Kind::kNor:
    case Kind::kNot:
      // A condition that must not match has no position.
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace gridmount::query
