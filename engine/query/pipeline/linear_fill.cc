// $linearFill: replaces null and missing values by points on the line between the known points
// around them.

#include <string>
#include <utility>

#include "engine/bson/compare.h"
#include "engine/query/expression/evaluation.h"
#include "engine/query/interruption.h"
#include "engine/query/pipeline/value_arithmetic.h"
#include "engine/query/pipeline/window_evaluation.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

std::optional<Value> owned(const MaybeValue& value) {
  return value ? std::optional(Value(*value)) : std::nullopt;
}

bool is_nullish_value(const std::optional<Value>& value) {
  return !value || bson::is_nullish(value->type());
}

std::string name_of_type(const std::optional<Value>& value) {
  return std::string(
      expressions::type_name(value ? MaybeValue(value->view()) : MaybeValue(std::nullopt)));
}

class LinearFill : public WindowEvaluation {
 public:
  LinearFill(const WindowFunction& function, Evaluator& evaluator)
      : function_(function), evaluator_(evaluator) {}

  void begin(const WindowPartition& partition) override {
    partition_ = &partition;
    before_.reset();
    after_.reset();
    has_no_more_ = false;
    last_x_.reset();
  }

  WindowResult next(size_t current) override {
    GM_ASSIGN(const std::optional<Value> y, value_of(*function_.input, current));
    GM_ASSIGN(const std::optional<Value> x, value_of(*function_.sort_value, current));
    if (!is_nullish_value(y) && !y->view().is_number()) {
      return fail(ErrorCode::kTypeMismatch,
                  "Value to be filled must be numeric or nullish, but found " + name_of_type(y));
    }
    GM_TRY(check_x(x));
    last_x_ = x;
    if (!is_nullish_value(y)) {
      before_ = after_ ? std::exchange(after_, std::nullopt) : Point{*x, *y};
      return y;
    }
    if (!before_) return Value();
    if (!after_ && !has_no_more_) GM_TRY(find_after(current));
    if (!after_) return Value();
    return between(*x);
  }

 private:
  struct Point {
    Value x;
    Value y;
  };

  Result<std::optional<Value>> value_of(const Expression& expression, size_t at) {
    partition_->begin_document(at, evaluator_);
    GM_ASSIGN(const MaybeValue value, evaluator_.evaluate(expression));
    return owned(value);
  }

  static bool is_time(ValueView value) { return expressions::is_coercible_to_date(value); }

  Status check_x(const std::optional<Value>& x) const {
    if (!x || !(x->view().is_number() || is_time(*x))) {
      return fail(
          ErrorCode::kTypeMismatch,
          "Value of the sortBy field must be numeric or a date, but found " + name_of_type(x));
    }
    if (!last_x_) return {};
    // Two points at one place do not show at which of them the line begins.
    if (bson::compare(*x, *last_x_) == 0) {
      return fail(ErrorCode{6050106}, "There can be no repeated values in the sort field");
    }
    if (is_time(*x) == is_time(*last_x_)) return {};
    return fail(ErrorCode::kTypeMismatch,
                "Conflicting sort value types, previously received type " + name_of_type(last_x_) +
                    ", but found " + name_of_type(x));
  }

  Status find_after(size_t current) {
    for (size_t at = current + 1; at < partition_->size(); ++at) {
      GM_TRY(check_interruption());
      GM_ASSIGN(const std::optional<Value> y, value_of(*function_.input, at));
      if (is_nullish_value(y)) continue;
      GM_ASSIGN(const std::optional<Value> x, value_of(*function_.sort_value, at));
      if (is_nullish_value(x)) continue;
      after_ = Point{*x, *y};
      return {};
    }
    has_no_more_ = true;
    return {};
  }

  WindowResult between(const Value& x) {
    GM_ASSIGN(const Value rise, arithmetic_.subtract(after_->y, before_->y));
    GM_ASSIGN(const Value run, arithmetic_.subtract(after_->x, before_->x));
    GM_ASSIGN(const Value slope, arithmetic_.divide(rise, run));
    GM_ASSIGN(const Value distance, arithmetic_.subtract(x, before_->x));
    GM_ASSIGN(const Value difference, arithmetic_.multiply(distance, slope));
    GM_ASSIGN(const Value y, arithmetic_.add(before_->y, difference));
    return y;
  }

  const WindowFunction& function_;
  Evaluator& evaluator_;
  ValueArithmetic arithmetic_;
  const WindowPartition* partition_ = nullptr;
  std::optional<Point> before_;
  std::optional<Point> after_;
  bool has_no_more_ = false;  // no known point follows
  std::optional<Value> last_x_;
};

}  // namespace

std::unique_ptr<WindowEvaluation> make_linear_fill(const WindowFunction& function,
                                                   Evaluator& evaluator) {
  return std::make_unique<LinearFill>(function, evaluator);
}

}  // namespace gridmount::query
