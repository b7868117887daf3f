#include "engine/query/filter/predicate.h"

#include <algorithm>
#include <span>

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Parts = std::span<const std::string>;

bool test_reached(const ValueTest& test, ValueView value, MatchContext& context) {
  if (value.type() == Type::kArray && test.tests_elements()) {
    for (const bson::Element element : value.as_document()) {
      if (context.has_ended(element.value.size())) return true;
      if (test.test(element.value, context)) return true;
    }
  }
  return test.test(value, context);
}

bool test_document(const ValueTest& test, bson::View document, Parts parts, MatchContext& context);
bool test_array(const ValueTest& test, bson::View array, Parts parts, MatchContext& context);

// Tests the values that the rest of the path reaches from `value`. Returns `otherwise` if the path
// cannot continue from `value`.
bool test_below(const ValueTest& test, ValueView value, Parts rest, bool otherwise,
                MatchContext& context) {
  if (rest.empty()) return test_reached(test, value, context);
  switch (value.type()) {
    case Type::kDocument:
      return test_document(test, value.as_document(), rest, context);
    case Type::kArray:
      return test_array(test, value.as_document(), rest, context);
    default:
      return otherwise;
  }
}

bool test_document(const ValueTest& test, bson::View document, Parts parts, MatchContext& context) {
  const std::optional<ValueView> value = document.find(parts.front());
  if (!value) return test.test_missing();
  return test_below(test, *value, parts.subspan(1), test.test_missing(), context);
}

bool is_position(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// An array on a path stands for each of its documents, and for the element at the position that the
// path names. If the path ends with this position and the element is an array, only the array as a
// whole is tested, and not its elements.
bool test_array(const ValueTest& test, bson::View array, Parts parts, MatchContext& context) {
  for (const bson::Element element : array) {
    if (context.has_ended(element.value.size())) return true;
    if (element.value.type() == Type::kDocument &&
        test_document(test, element.value.as_document(), parts, context)) {
      return true;
    }
  }
  if (!is_position(parts.front())) return false;
  const std::optional<ValueView> value = array.find(parts.front());
  if (!value) return false;
  return parts.size() == 1 ? test.test(*value, context)
                           : test_below(test, *value, parts.subspan(1), false, context);
}

}  // namespace

bool Predicate::matches(bson::View document) const {
  MatchContext context;
  return test(document, context) && !context.error;
}

bool ValueTest::test(ValueView value) const {
  MatchContext context;
  return test(value, context) && !context.error;
}

bool PathPredicate::test(bson::View document, MatchContext& context) const {
  return test_document(*test_, document, path_.parts(), context);
}

const bson::Path& DocumentPredicate::path() const {
  static const bson::Path kPath(std::string_view("\0", 1));
  return kPath;
}

const bson::Path& text_path() {
  static const bson::Path kPath(std::string_view("\0text", 5));
  return kPath;
}

bool TestGroup::test(ValueView value, MatchContext& context) const {
  const bool all = std::all_of(tests.begin(), tests.end(),
                               [&](const auto& test) { return test->test(value, context); }) &&
                   std::all_of(groups.begin(), groups.end(),
                               [&](const TestGroup& group) { return group.test(value, context); });
  return all != negated;
}

}  // namespace gridmount::query
