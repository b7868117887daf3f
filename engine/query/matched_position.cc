// Which array element let a document match: Filter::matched_position(). Apart from the matching
// itself, which is the hot path and must not carry positions along.
// Source: MongoDB manual, "$ (update)".

#include <charconv>
#include <span>

#include "engine/query/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Parts = std::span<const std::string>;

// That the test fits, and at which element of the outermost array.
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
  return found ? std::optional(Found{named}) : std::nullopt;
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
      std::optional<size_t> last;
      for (const Filter& child : children_) {
        if (const std::optional<size_t> position = child.matched_position(document)) {
          last = position;
        }
      }
      return last;
    }
    case Kind::kOr:
      for (const Filter& child : children_) {
        if (child.matches(document)) return child.matched_position(document);
      }
      return std::nullopt;
    case Kind::kNor:
    case Kind::kNot:
      // What does not match has no position.
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace gridmount::query
