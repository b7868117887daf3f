#include "engine/query/plan/wildcard_plan.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// Returns whether a comparison with the value can only match values that the index has.
bool is_of_single_values(ValueView value) {
  switch (value.type()) {
    case Type::kArray:
    case Type::kMinKey:
    case Type::kMaxKey:
    case Type::kNull:
    case Type::kUndefined:
      return false;
    case Type::kDocument:
      return value.as_document().empty();
    default:
      return true;
  }
}

bool is_of_single_types(ValueView type) {
  const auto number = static_cast<Type>(type.integral().value_or(0));
  return number != Type::kDocument && number != Type::kArray;
}

// Returns whether the condition can only match values that the index has.
bool is_answered(const Predicate& predicate) {
  switch (predicate.kind()) {
    case Predicate::Kind::kEqual:
      return is_of_single_values(*predicate.operand());
    case Predicate::Kind::kLess:
    case Predicate::Kind::kLessEqual:
    case Predicate::Kind::kGreater:
    case Predicate::Kind::kGreaterEqual:
      return predicate.operand()->type() != Type::kDocument &&
             is_of_single_values(*predicate.operand());
    case Predicate::Kind::kIn:
      return std::all_of(predicate.operands()->begin(), predicate.operands()->end(),
                         is_of_single_values);
    case Predicate::Kind::kType:
      return std::all_of(predicate.operands()->begin(), predicate.operands()->end(),
                         is_of_single_types);
    case Predicate::Kind::kExists:
    case Predicate::Kind::kRegex:
      return !predicate.matches(bson::View());
    default:
      return false;
  }
}

Interval point(const std::string& path) {
  return {Value(path), Value(path), true, true};
}

// The paths that begin with `path` and a dot.
Interval paths_below(const std::string& path) {
  return {Value(path + "."), Value(path + "/"), true, false};
}

}  // namespace

std::optional<WildcardBounds> wildcard_bounds(const Predicate& predicate,
                                              const WildcardPaths& paths,
                                              const StringsOfIndex& strings) {
  const std::string& path = predicate.path().dotted();
  if (!paths.holds(path) || !is_answered(predicate)) return std::nullopt;
  if (predicate.kind() == Predicate::Kind::kExists) {
    if (!paths.holds_all_below(path)) return std::nullopt;
    return WildcardBounds{{point(path), paths_below(path)}, {all_values()}};
  }
  std::optional<PartBounds> values = bounds_of(predicate, strings);
  if (!values) return std::nullopt;
  return WildcardBounds{{point(path)}, std::move(values->intervals)};
}

}  // namespace gridmount::query
