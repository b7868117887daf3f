#include "engine/query/pipeline/window_bounds.h"

#include <string>
#include <vector>

#include "engine/bson/compare.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using BoundKind = WindowBound::Kind;

bool is_int32(ValueView value) {
  const std::optional<int64_t> whole = value.integral();
  return whole && *whole >= INT32_MIN && *whole <= INT32_MAX;
}

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::kFailedToParse, std::move(message));
}

class BoundsParser {
 public:
  BoundsParser(bson::View window, const Sort* sort, VariableScope& scope)
      : sort_(sort), scope_(scope) {
    for (const bson::Element element : window) {
      ++fields_;
      if (element.key == "documents" && !documents_) documents_ = element.value;
      if (element.key == "range" && !range_) range_ = element.value;
      if (element.key == "unit" && !unit_) unit_ = element.value;
    }
  }

  Result<WindowBounds> parse() {
    if (documents_ && range_) {
      return refuse("Window bounds can specify either 'documents' or 'unit', not both.");
    }
    if (!range_ && unit_) {
      return refuse("Window bounds can only specify 'unit' with range-based bounds.");
    }
    if (documents_) {
      GM_TRY(parse_documents());
    } else if (range_) {
      GM_TRY(parse_range());
    } else if (fields_ > 0) {
      return refuse(
          "'window' field can only contain 'documents' as the only argument or 'range' with an "
          "optional 'unit' field");
    }
    return std::move(bounds_);
  }

 private:
  Status parse_documents() {
    if (fields_ != 1) {
      return refuse("'window' field that specifies documents cannot have other fields");
    }
    GM_TRY(parse_pair("documents", *documents_));
    const bool is_bounded =
        bounds_.lower.kind != BoundKind::kUnbounded || bounds_.upper.kind != BoundKind::kUnbounded;
    if (is_bounded && sort_ == nullptr) {
      return fail(ErrorCode{5339901}, "Document-based bounds require a sortBy");
    }
    return {};
  }

  Status parse_range() {
    bounds_.kind = WindowBounds::Kind::kRange;
    if (unit_) {
      if (fields_ != 2) {
        return refuse(
            "'window' field that specifies unit cannot have other fields besides 'range'");
      }
      if (unit_->type() != Type::kString) return refuse("'unit' must be a string");
    } else if (fields_ != 1) {
      return refuse("'window' field that specifies range cannot have other fields besides 'unit'");
    }
    GM_TRY(parse_pair("range", *range_));
    if (unit_) {
      GM_ASSIGN(bounds_.unit, parse_time_unit(unit_->as_string()));
    }
    if (sort_ == nullptr || sort_->parts().size() != 1) {
      return fail(ErrorCode{5339902}, "Range-based bounds require sortBy a single field");
    }
    bounds_.is_descending = sort_->parts().front().descending;
    return {};
  }

  Status parse_pair(std::string_view name, ValueView value) {
    std::vector<ValueView> pair;
    if (value.type() == Type::kArray) {
      for (const bson::Element element : value.as_document()) pair.push_back(element.value);
    }
    if (pair.size() != 2) {
      return refuse("Window bounds must be a 2-element array: " + std::string(name) + ": " +
                    shown(value));
    }
    GM_ASSIGN(bounds_.lower, parse_bound(pair[0]));
    GM_ASSIGN(bounds_.upper, parse_bound(pair[1]));
    return check_order();
  }

  Result<WindowBound> parse_bound(ValueView value) {
    if (value.type() == Type::kString) {
      if (value.as_string() == "unbounded") return WindowBound{BoundKind::kUnbounded, Value()};
      if (value.as_string() == "current") return WindowBound{BoundKind::kCurrent, Value()};
      return refuse("Window bounds must be 'unbounded', 'current', or a number.");
    }
    GM_ASSIGN(const std::unique_ptr<Expression> expression, parse_expression(value, scope_));
    const std::optional<ValueView> constant = expression->constant();
    if (!constant) return refuse("Window bounds expression must be a constant.");
    if (bounds_.kind == WindowBounds::Kind::kDocuments) {
      if (!is_int32(*constant)) return refuse("Numeric document-based bounds must be an integer");
    } else if (unit_) {
      if (!is_int32(*constant)) {
        return refuse("With 'unit', range-based bounds must be an integer");
      }
    } else if (!constant->is_number()) {
      return refuse("Range-based bounds expression must be a number");
    }
    return WindowBound{BoundKind::kOffset, Value(*constant)};
  }

  Status check_order() const {
    if (bounds_.lower.kind == BoundKind::kUnbounded || bounds_.upper.kind == BoundKind::kUnbounded)
      return {};
    const Value zero(int32_t{0});
    const auto offset = [&](const WindowBound& bound) {
      return bound.kind == BoundKind::kCurrent ? zero.view() : bound.offset.view();
    };
    const ValueView lower = offset(bounds_.lower);
    const ValueView upper = offset(bounds_.upper);
    if (bson::compare(lower, upper) <= 0) return {};
    return fail(ErrorCode{5339900}, "Lower bound must not exceed upper bound: [" + shown(lower) +
                                        ", " + shown(upper) + "]");
  }

  const Sort* const sort_;
  VariableScope& scope_;
  size_t fields_ = 0;
  std::optional<ValueView> documents_;
  std::optional<ValueView> range_;
  std::optional<ValueView> unit_;
  WindowBounds bounds_;
};

}  // namespace

WindowBounds WindowBounds::up_to_current() {
  WindowBounds bounds;
  bounds.upper.kind = WindowBound::Kind::kCurrent;
  return bounds;
}

WindowBounds WindowBounds::only(int32_t offset) {
  WindowBounds bounds;
  bounds.lower = {WindowBound::Kind::kOffset, Value(offset)};
  bounds.upper = bounds.lower;
  return bounds;
}

Result<WindowBounds> parse_window_bounds(ValueView value, const Sort* sort, VariableScope& scope) {
  if (value.type() != Type::kDocument) return refuse("'window' field must be an object");
  return BoundsParser(value.as_document(), sort, scope).parse();
}

Result<expressions::TimeUnit> parse_time_unit(std::string_view name) {
  const std::optional<expressions::TimeUnit> unit = expressions::find_time_unit(name);
  if (!unit) return refuse("unknown time unit value: " + std::string(name));
  return *unit;
}

}  // namespace gridmount::query
