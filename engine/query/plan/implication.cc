#include "engine/query/plan/implication.h"

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"

namespace gridmount::query {
namespace {

using Kind = Predicate::Kind;

// Returns {a: {b: value}} for the path a.b.
bson::Document document_with(const bson::Path& path, bson::ValueView value) {
  bson::Builder builder;
  const std::vector<std::string>& parts = path.parts();
  for (size_t i = 0; i + 1 < parts.size(); ++i) builder.open_document(parts[i]);
  builder.append(parts.back(), value);
  for (size_t i = 0; i + 1 < parts.size(); ++i) builder.close();
  return std::move(builder).finish();
}

// Returns whether a condition on types allows all types whose values may equal the value. A number
// may equal a number of another type, and a string may equal a symbol.
bool allows_types_equal_to(bson::ValueView value, const Predicate& condition) {
  using bson::Type;
  std::vector<Type> types = {value.type()};
  if (value.is_number()) types = {Type::kDouble, Type::kInt32, Type::kInt64, Type::kDecimal128};
  if (value.type() == Type::kString || value.type() == Type::kSymbol) {
    types = {Type::kString, Type::kSymbol};
  }
  const std::vector<bson::ValueView>& allowed = *condition.operands();
  return std::all_of(types.begin(), types.end(), [&](Type type) {
    return std::any_of(allowed.begin(), allowed.end(), [&](bson::ValueView one) {
      return one.integral() == static_cast<int64_t>(type);
    });
  });
}

// Returns whether a document that matches {path: value} always matches the condition. Such a
// document has the value in the field, or as an element of an array in it. Returns false if the
// value is an array: its elements may match the condition, but not in a document in which this
// array is an element of another array.
bool equality_implies(bson::ValueView value, const Predicate& condition) {
  const bool is_exact = value.type() != bson::Type::kArray && value.type() != bson::Type::kNull &&
                        value.type() != bson::Type::kUndefined &&
                        value.type() != bson::Type::kRegex;
  if (!is_exact) return false;
  if (condition.kind() == Kind::kType) return allows_types_equal_to(value, condition);
  return condition.matches(document_with(condition.path(), value));
}

bool is_lower_bound(Kind kind) {
  return kind == Kind::kGreater || kind == Kind::kGreaterEqual;
}
bool is_upper_bound(Kind kind) {
  return kind == Kind::kLess || kind == Kind::kLessEqual;
}

bool range_implies(const Predicate& predicate, const Predicate& condition,
                   const bson::StringOrder* strings) {
  const bool lower = is_lower_bound(predicate.kind()) && is_lower_bound(condition.kind());
  const bool upper = is_upper_bound(predicate.kind()) && is_upper_bound(condition.kind());
  if (!lower && !upper) return false;
  const bson::ValueView own = *predicate.operand();
  const bson::ValueView other = *condition.operand();
  if (bson::canonical_order(own.type()) != bson::canonical_order(other.type())) return false;
  const std::weak_ordering order = bson::compare(own, other, strings);
  const bool condition_inclusive =
      condition.kind() == Kind::kGreaterEqual || condition.kind() == Kind::kLessEqual;
  if (order == 0) return condition_inclusive || predicate.kind() == condition.kind();
  return lower ? order > 0 : order < 0;
}

bool types_imply(const Predicate& predicate, const Predicate& condition) {
  return std::all_of(
      predicate.operands()->begin(), predicate.operands()->end(), [&](bson::ValueView type) {
        const std::vector<bson::ValueView>& allowed = *condition.operands();
        return std::any_of(allowed.begin(), allowed.end(),
                           [&](bson::ValueView one) { return bson::compare(one, type) == 0; });
      });
}

bool predicate_implies(const Predicate& predicate, const Predicate& condition,
                       const StringsOfIndex& strings) {
  if (predicate.path().dotted() != condition.path().dotted()) return false;
  // If a document without the field does not match, then every document that matches has the field.
  if (condition.kind() == Kind::kExists) return !predicate.matches(bson::View());
  // Strings that are equal in the query may be different in the index.
  if (!strings.match && compares_strings(predicate)) return false;
  switch (predicate.kind()) {
    case Kind::kEqual:
      return equality_implies(*predicate.operand(), condition);
    case Kind::kIn:
      return predicate.literal_prefixes()->empty() &&
             std::all_of(predicate.operands()->begin(), predicate.operands()->end(),
                         [&](bson::ValueView value) { return equality_implies(value, condition); });
    case Kind::kLess:
    case Kind::kLessEqual:
    case Kind::kGreater:
    case Kind::kGreaterEqual:
      return range_implies(predicate, condition, strings.order);
    case Kind::kType:
      return condition.kind() == Kind::kType && types_imply(predicate, condition);
    default:
      return false;
  }
}

}  // namespace

bool implies(const Filter& filter, const Filter& condition, const StringsOfIndex& strings) {
  const std::vector<Filter>& conditions = condition.children();
  const std::vector<Filter>& children = filter.children();
  if (condition.kind() == Filter::Kind::kAnd) {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const Filter& each) { return implies(filter, each, strings); });
  }
  if (filter.kind() == Filter::Kind::kOr) {
    return std::all_of(children.begin(), children.end(),
                       [&](const Filter& each) { return implies(each, condition, strings); });
  }
  if (condition.kind() == Filter::Kind::kOr) {
    return std::any_of(conditions.begin(), conditions.end(),
                       [&](const Filter& each) { return implies(filter, each, strings); });
  }
  if (filter.kind() == Filter::Kind::kAnd) {
    return std::any_of(children.begin(), children.end(),
                       [&](const Filter& each) { return implies(each, condition, strings); });
  }
  return filter.kind() == Filter::Kind::kPredicate &&
         condition.kind() == Filter::Kind::kPredicate &&
         predicate_implies(filter.predicate(), condition.predicate(), strings);
}

}  // namespace gridmount::query
