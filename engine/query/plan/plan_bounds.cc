#include "engine/query/plan/plan_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/text/text_query.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

Interval point(ValueView value) {
  return {Value(value), Value(value), true, true};
}

// Returns the value of the field that `append` appends.
template <typename Append>
Value built(const Append& append) {
  bson::Builder builder;
  append(builder);
  const bson::Document document = std::move(builder).finish();
  return Value((*document.view().begin()).value);
}

Value undefined() {
  return Value(ValueView(Type::kUndefined, nullptr, 0));
}

Value empty_binary() {
  return built([](bson::Builder& builder) { builder.append("", bson::Binary{}); });
}

Value least_regex() {
  return built([](bson::Builder& builder) { builder.append_regex("", "", ""); });
}

// Returns the least DBPointer: an empty string and an ObjectId of zeros. The type DBPointer sorts
// after regular expressions.
Value least_db_pointer() {
  constexpr uint8_t kBytes[4 + 1 + 12] = {1};
  return Value(ValueView(Type::kDbPointer, kBytes, sizeof kBytes));
}

// Returns the interval of all values that compare with values of the type. Returns nullopt for
// types that are rarely searched by range, and for arrays: an index has the elements of an array,
// not the array itself.
std::optional<Interval> bracket_of(Type type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (type) {
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return Interval{Value(-kInfinity), Value(kInfinity), true, true};  // without NaN
    case Type::kString:
    case Type::kSymbol:
      return Interval{Value(""), Value(bson::View()), true, false};
    case Type::kDocument:
      return Interval{Value(bson::View()), Value::array(bson::View()), true, false};
    case Type::kBinary:
      return Interval{empty_binary(), Value(bson::ObjectId()), true, false};
    case Type::kObjectId: {
      bson::ObjectId::Bytes last;
      last.fill(0xFF);
      return Interval{Value(bson::ObjectId()), Value(bson::ObjectId(last)), true, true};
    }
    case Type::kBool:
      return Interval{Value(false), Value(true), true, true};
    case Type::kDate:
      return Interval{Value(bson::Date{std::numeric_limits<int64_t>::min()}),
                      Value(bson::Date{std::numeric_limits<int64_t>::max()}), true, true};
    case Type::kTimestamp: {
      constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
      const auto timestamp = [](bson::Timestamp value) {
        return built([&](bson::Builder& builder) { builder.append("", value); });
      };
      return Interval{timestamp({0, 0}), timestamp({kMax, kMax}), true, true};
    }
    default:
      return std::nullopt;
  }
}

// The limit for the number of values of one part that are searched one by one. With more values,
// the scan reads all keys between the least and the greatest value. A point takes about 400 bytes
// until it becomes a range of keys.
constexpr size_t kPointsMax = 100'000;

void add_equal(ValueView value, PartBounds& bounds) {
  if (bson::is_nullish(value.type())) {
    // Null also matches undefined and missing values. Missing values are indexed as null. Two
    // points are used instead of a range, so that the bounds of later parts still narrow the
    // search.
    bounds.intervals.push_back(point(undefined()));
    bounds.intervals.push_back(point(Value()));
  } else if (value.type() == Type::kArray) {
    // An array's elements are indexed, and an empty array is indexed as undefined. The array may
    // also be an element of another array.
    const bson::View elements = value.as_document();
    bounds.intervals.push_back(
        point(elements.empty() ? undefined() : Value((*elements.begin()).value)));
    bounds.intervals.push_back(point(value));
    bounds.exact = false;
  } else {
    bounds.intervals.push_back(point(value));
  }
}

bool low_less(const Interval& a, const Interval& b, const bson::StringOrder* strings) {
  const std::weak_ordering order = bson::compare(a.low, b.low, strings);
  return order != 0 ? order < 0 : a.low_inclusive && !b.low_inclusive;
}

// Sorts the intervals and joins those that overlap.
void normalize(std::vector<Interval>& intervals, const bson::StringOrder* strings) {
  if (intervals.size() < 2) return;
  std::sort(intervals.begin(), intervals.end(),
            [strings](const Interval& a, const Interval& b) { return low_less(a, b, strings); });
  std::vector<Interval> disjoint;
  for (Interval& interval : intervals) {
    if (!disjoint.empty()) {
      Interval& last = disjoint.back();
      const std::weak_ordering order = bson::compare(interval.low, last.high, strings);
      if (order < 0 || (order == 0 && (interval.low_inclusive || last.high_inclusive))) {
        const std::weak_ordering ends = bson::compare(interval.high, last.high, strings);
        if (ends > 0 || (ends == 0 && interval.high_inclusive)) {
          last.high = std::move(interval.high);
          last.high_inclusive = interval.high_inclusive;
        }
        continue;
      }
    }
    disjoint.push_back(std::move(interval));
  }
  intervals = std::move(disjoint);
}

std::optional<PartBounds> order_bounds(const Predicate& predicate) {
  const Predicate::Kind kind = predicate.kind();
  const Value& operand = *predicate.operand();
  const bool less = kind == Predicate::Kind::kLess || kind == Predicate::Kind::kLessEqual;
  const bool or_equal =
      kind == Predicate::Kind::kLessEqual || kind == Predicate::Kind::kGreaterEqual;
  PartBounds bounds{{}, true};
  if (bson::is_nullish(operand.type())) {
    if (or_equal) add_equal(operand, bounds);
    return bounds;
  }
  if (const std::optional<double> number = operand.view().number(); number && std::isnan(*number)) {
    if (or_equal) bounds.intervals.push_back(point(operand));
    return bounds;
  }
  std::optional<Interval> interval = bracket_of(operand.type());
  if (!interval) return std::nullopt;
  if (less) {
    interval->high = operand;
    interval->high_inclusive = or_equal;
  } else {
    interval->low = operand;
    interval->low_inclusive = or_equal;
  }
  bounds.intervals.push_back(std::move(*interval));
  return bounds;
}

// Adds the strings that begin with the prefix. Returns false if the prefix is empty or the strings
// of the index are not in the order of their bytes, because then there are no useful bounds.
bool add_regex(std::string prefix, const StringsOfIndex& strings_of_index, PartBounds& bounds) {
  if (prefix.empty() || !strings_of_index.of_bytes) return false;
  Interval strings{Value(prefix), Value(bson::View()), true, false};
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (!prefix.empty()) {
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    strings.high = Value(prefix);
  }
  bounds.intervals.push_back(std::move(strings));
  // A regular expression stored as a value matches itself.
  bounds.intervals.push_back({least_regex(), least_db_pointer(), true, false});
  bounds.exact = false;
  return true;
}

// Returns the bounds of a comparison of an expression, for an index without arrays. They are never
// exact, because missing values are indexed as null.
PartBounds expression_bounds(const Predicate& predicate) {
  const Value& operand = *predicate.operand();
  Interval interval = all_values();
  switch (predicate.kind()) {
    case Predicate::Kind::kExpressionLess:
    case Predicate::Kind::kExpressionLessEqual:
      interval.high = operand;
      // A missing value is less than null, and has the same key.
      interval.high_inclusive = predicate.kind() == Predicate::Kind::kExpressionLessEqual ||
                                operand.type() == Type::kNull;
      break;
    case Predicate::Kind::kExpressionGreater:
    case Predicate::Kind::kExpressionGreaterEqual:
      interval.low = operand;
      interval.low_inclusive = predicate.kind() == Predicate::Kind::kExpressionGreaterEqual;
      break;
    default:
      interval = point(operand.view());
  }
  return {{std::move(interval)}, false};
}

// Replaces all intervals by one interval that covers them.
void join(PartBounds& bounds, const bson::StringOrder* strings) {
  normalize(bounds.intervals, strings);
  Interval whole = std::move(bounds.intervals.front());
  whole.high = std::move(bounds.intervals.back().high);
  whole.high_inclusive = bounds.intervals.back().high_inclusive;
  bounds.intervals.clear();
  bounds.intervals.push_back(std::move(whole));
  bounds.exact = false;
}

std::optional<PartBounds> in_bounds(const Predicate& predicate, const StringsOfIndex& strings) {
  PartBounds bounds{{}, true};
  for (const ValueView value : *predicate.operands()) {
    add_equal(value, bounds);
    if (bounds.intervals.size() >= 2 * kPointsMax) join(bounds, strings.order);
  }
  if (bounds.intervals.size() > kPointsMax) join(bounds, strings.order);
  for (const std::string& prefix : *predicate.literal_prefixes()) {
    if (!add_regex(prefix, strings, bounds)) return std::nullopt;
  }
  normalize(bounds.intervals, strings.order);
  return bounds;
}

// Returns the bounds of whole types, which are the same in every order of strings.
std::optional<PartBounds> type_bounds(const Predicate& predicate) {
  PartBounds bounds{{}, false};
  for (const ValueView number : *predicate.operands()) {
    const auto type = static_cast<Type>(number.integral().value_or(0));
    if (type == Type::kNull) {
      bounds.intervals.push_back(point(Value()));
      continue;
    }
    std::optional<Interval> interval = bracket_of(type);
    if (!interval) return std::nullopt;
    // NaN is a number too, although it is neither less nor greater than any number.
    if (interval->low.view().number()) {
      interval->low = Value(std::numeric_limits<double>::quiet_NaN());
    }
    bounds.intervals.push_back(std::move(*interval));
  }
  normalize(bounds.intervals, nullptr);
  return bounds;
}

std::optional<PartBounds> regex_bounds(const Predicate& predicate, const StringsOfIndex& strings) {
  PartBounds bounds;
  if (!add_regex(std::string(predicate.literal_prefix()), strings, bounds)) return std::nullopt;
  return bounds;
}

// Returns the bounds of a $text in the part with the terms, which are compared as bytes whatever
// the collation of the query is.
PartBounds text_bounds(const Predicate& predicate) {
  PartBounds bounds{{}, predicate.text_query()->is_plain()};
  for (const ValueView term : *predicate.operands()) bounds.intervals.push_back(point(term));
  return bounds;
}

}  // namespace

Interval all_values() {
  return {Value::min_key(), Value::max_key(), true, true};
}

PartBounds bounds_of_absence() {
  // Missing values are indexed as null. Null values have the same key, so the bounds are not exact.
  return {{point(Value())}, false};
}

bool compares_strings(const Predicate& predicate) {
  if (predicate.kind() == Predicate::Kind::kType) return false;
  if (predicate.operand() != nullptr) return depends_on_strings(predicate.operand()->type());
  return predicate.operands() != nullptr &&
         std::any_of(predicate.operands()->begin(), predicate.operands()->end(),
                     [](bson::ValueView value) { return depends_on_strings(value.type()); });
}

std::optional<PartBounds> bounds_of(const Predicate& predicate, const StringsOfIndex& strings) {
  const bool is_text = predicate.kind() == Predicate::Kind::kText;
  if (!is_text && !strings.match && compares_strings(predicate)) return std::nullopt;
  switch (predicate.kind()) {
    case Predicate::Kind::kText:
      return text_bounds(predicate);
    case Predicate::Kind::kEqual: {
      PartBounds bounds{{}, true};
      add_equal(*predicate.operand(), bounds);
      normalize(bounds.intervals, strings.order);
      return bounds;
    }
    case Predicate::Kind::kIn:
      return in_bounds(predicate, strings);
    case Predicate::Kind::kLess:
    case Predicate::Kind::kLessEqual:
    case Predicate::Kind::kGreater:
    case Predicate::Kind::kGreaterEqual:
      return order_bounds(predicate);
    case Predicate::Kind::kRegex:
      return regex_bounds(predicate, strings);
    case Predicate::Kind::kType:
      return type_bounds(predicate);
    case Predicate::Kind::kExpressionEqual:
    case Predicate::Kind::kExpressionLess:
    case Predicate::Kind::kExpressionLessEqual:
    case Predicate::Kind::kExpressionGreater:
    case Predicate::Kind::kExpressionGreaterEqual:
      return expression_bounds(predicate);
    case Predicate::Kind::kExists:
    case Predicate::Kind::kOther:
      break;
  }
  return std::nullopt;
}

namespace {

// Returns the values in both intervals, or nullopt if there are none.
std::optional<Interval> common_of(const Interval& left, const Interval& right,
                                  const bson::StringOrder* strings) {
  const bool left_first = low_less(left, right, strings);
  Interval common = left_first ? right : left;
  const Interval& other = left_first ? left : right;
  const std::weak_ordering highs = bson::compare(other.high, common.high, strings);
  if (highs < 0) {
    common.high = other.high;
    common.high_inclusive = other.high_inclusive;
  } else if (highs == 0) {
    common.high_inclusive = common.high_inclusive && other.high_inclusive;
  }
  const std::weak_ordering order = bson::compare(common.low, common.high, strings);
  if (order < 0 || (order == 0 && common.low_inclusive && common.high_inclusive)) return common;
  return std::nullopt;
}

// Returns whether `b` continues after `a` ends, so that the interval after `a` may still meet `b`.
bool ends_before(const Interval& a, const Interval& b, const bson::StringOrder* strings) {
  const std::weak_ordering order = bson::compare(a.high, b.high, strings);
  return order != 0 ? order < 0 : !a.high_inclusive;
}

}  // namespace

PartBounds intersect(const PartBounds& a, const PartBounds& b, const bson::StringOrder* order) {
  PartBounds both;
  both.exact = a.exact && b.exact;
  auto left = a.intervals.begin();
  auto right = b.intervals.begin();
  while (left != a.intervals.end() && right != b.intervals.end()) {
    if (std::optional<Interval> common = common_of(*left, *right, order)) {
      both.intervals.push_back(*std::move(common));
    }
    if (ends_before(*left, *right, order)) {
      ++left;
    } else {
      ++right;
    }
  }
  return both;
}

}  // namespace gridmount::query
