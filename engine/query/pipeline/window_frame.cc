#include "engine/query/pipeline/window_frame.h"

#include <algorithm>
#include <string>

#include "engine/bson/compare.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/evaluation.h"
#include "engine/query/expression/time_zone.h"
#include "engine/query/interruption.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using BoundKind = WindowBound::Kind;

// A missing value is less than every other value.
bool is_less(const std::optional<ValueView>& value, ValueView threshold) {
  return !value || bson::compare(*value, threshold) < 0;
}

int64_t offset_of(const WindowBound& bound) {
  return bound.kind == BoundKind::kCurrent ? 0 : *bound.offset.view().integral();
}

// On servers the sum is a decimal. The sum of two integers has the same value as an integer, which
// is faster to compare.
Value sum_of(ValueView base, ValueView offset) {
  const auto is_integer = [](ValueView value) {
    return value.type() == Type::kInt32 || value.type() == Type::kInt64;
  };
  int64_t sum = 0;
  if (is_integer(base) && is_integer(offset) &&
      !__builtin_add_overflow(*base.integral(), *offset.integral(), &sum)) {
    return Value(sum);
  }
  return value_of(add(to_decimal(base), to_decimal(offset)));
}

}  // namespace

void WindowFrame::begin(const WindowPartition& partition) {
  partition_ = &partition;
  first_from_ = 0;
  last_.reset();
}

Result<std::optional<WindowFrame::Span>> WindowFrame::move_to(size_t current) {
  if (bounds_.kind == WindowBounds::Kind::kDocuments) return documents_at(current);
  GM_ASSIGN(last_, range_at(current));
  return last_;
}

std::optional<WindowFrame::Span> WindowFrame::documents_at(size_t current) const {
  const auto here = static_cast<int64_t>(current);
  const int64_t end = static_cast<int64_t>(partition_->size()) - 1;
  const int64_t first = bounds_.lower.kind == BoundKind::kUnbounded
                            ? 0
                            : std::max<int64_t>(0, here + offset_of(bounds_.lower));
  const int64_t last = bounds_.upper.kind == BoundKind::kUnbounded
                           ? end
                           : std::min(end, here + offset_of(bounds_.upper));
  if (first > last) return std::nullopt;
  return Span{static_cast<size_t>(first), static_cast<size_t>(last)};
}

Result<std::optional<ValueView>> WindowFrame::value_at(size_t at) {
  GM_TRY(check_interruption());
  partition_->begin_document(at, evaluator_);
  return evaluator_.evaluate(*sort_value_);
}

Status WindowFrame::check_base(const std::optional<ValueView>& base) const {
  const std::string type(expressions::type_name(base));
  if (bounds_.unit) {
    if (is_expected(base)) return {};
    return fail(ErrorCode{5429513},
                "Invalid range: Expected the sortBy field to be a Date, but it was " + type);
  }
  if (base && base->type() == Type::kDate) {
    return fail(ErrorCode{5429413},
                "Invalid range: For windows that involve date or time ranges, a unit must be "
                "provided.");
  }
  if (is_expected(base)) return {};
  return fail(ErrorCode{5429414},
              "Invalid range: Expected the sortBy field to be a number, but it was " + type);
}

bool WindowFrame::is_expected(const std::optional<ValueView>& value) const {
  if (!value) return false;
  return bounds_.unit ? value->type() == Type::kDate : value->is_number();
}

Result<Value> WindowFrame::threshold(ValueView base, const Value& offset) const {
  if (!bounds_.unit) return sum_of(base, offset);
  GM_ASSIGN(const bson::Date date,
            expressions::add_to_date(base.as_date(), *bounds_.unit, *offset.view().integral(),
                                     expressions::TimeZone()));
  return Value(date);
}

Result<std::optional<WindowFrame::Span>> WindowFrame::range_at(size_t current) {
  if (bounds_.is_descending) {
    return fail(ErrorCode{5429404}, "Missing _sortExpr with range-based bounds");
  }
  GM_ASSIGN(const std::optional<ValueView> found, value_at(current));
  GM_TRY(check_base(found));
  const Value base(*found);
  GM_ASSIGN(const std::optional<size_t> first, first_in_range(current, base));
  if (!first) return std::nullopt;
  GM_ASSIGN(const std::optional<size_t> last, last_in_range(current, base, *first));
  if (!last) return std::nullopt;
  return Span{*first, *last};
}

Result<std::optional<size_t>> WindowFrame::first_in_range(size_t current, ValueView base) {
  if (bounds_.lower.kind == BoundKind::kCurrent) return current;
  const bool is_unbounded = bounds_.lower.kind == BoundKind::kUnbounded;
  Value least;
  if (!is_unbounded) {
    GM_ASSIGN(least, threshold(base, bounds_.lower.offset));
  }
  // The values of later documents are not less, so their ranges begin at the same document or
  // later.
  for (size_t& at = first_from_; at < partition_->size(); ++at) {
    GM_ASSIGN(const std::optional<ValueView> value, value_at(at));
    if (is_expected(value)) {
      if (is_unbounded || !is_less(value, least)) return at;
    } else if (!is_unbounded && !is_less(value, least)) {
      return std::nullopt;  // all values of the type are below the range
    }
  }
  return std::nullopt;
}

Result<std::optional<size_t>> WindowFrame::last_in_range(size_t current, ValueView base,
                                                         size_t first) {
  if (bounds_.upper.kind == BoundKind::kCurrent) return current;
  const bool is_unbounded = bounds_.upper.kind == BoundKind::kUnbounded;
  Value greatest;
  size_t at = first;
  if (last_) at = std::max(at, last_->last);
  if (is_unbounded) {
    at = std::max(at, current);
  } else {
    GM_ASSIGN(greatest, threshold(base, bounds_.upper.offset));
  }
  for (const size_t begin = at; at < partition_->size(); ++at) {
    GM_ASSIGN(const std::optional<ValueView> value, value_at(at));
    const bool is_beyond =
        is_unbounded ? !is_expected(value) : value && bson::compare(*value, greatest) > 0;
    if (!is_beyond) continue;
    if (at == begin) return std::nullopt;
    return at - 1;
  }
  return partition_->size() - 1;
}

}  // namespace gridmount::query
