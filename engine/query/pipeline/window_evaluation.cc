#include "engine/query/pipeline/window_evaluation.h"

#include <string>
#include <utility>

#include "engine/query/interruption.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/value_arithmetic.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

// A function with a state that follows the window.
class StateEvaluation : public WindowEvaluation {
 public:
  StateEvaluation(const WindowFunction& function, Evaluator& evaluator,
                  const WindowStateSettings& settings)
      : function_(function),
        evaluator_(evaluator),
        frame_(function.bounds, function.sort_value.get(), evaluator),
        slides_(function.bounds.lower.kind != WindowBound::Kind::kUnbounded),
        bytes_max_(settings.bytes_max),
        state_((slides_ ? function.make_sliding : function.make_growing)(settings)) {}

  void begin(const WindowPartition& partition) override {
    partition_ = &partition;
    frame_.begin(partition);
    state_->reset();
    values_.clear();
    values_bytes_ = 0;
    span_.reset();
    result_.reset();
  }

  WindowResult next(size_t current) override {
    GM_ASSIGN(const std::optional<WindowFrame::Span> span, frame_.move_to(current));
    if (span) {
      for (size_t at = span_ ? span_->last + 1 : span->first; at <= span->last; ++at) {
        GM_TRY(add(at));
      }
    }
    GM_TRY(leave(span));
    span_ = span;
    // For an empty window, the state is asked for its result each time. As on servers, result() may
    // change the state.
    if (!result_ || !span) {
      GM_ASSIGN(result_, state_->result(values_));
    }
    return *result_;
  }

  uint64_t bytes() const override { return state_->bytes() + values_bytes_; }

 private:
  static uint64_t bytes_of(const std::optional<Value>& value) {
    return sizeof value + (value ? value->bytes().size() : 0);
  }

  Status add(size_t at) {
    GM_TRY(check_interruption());
    result_.reset();
    partition_->begin_document(at, evaluator_);
    GM_ASSIGN(const MaybeValue value, evaluator_.evaluate(*function_.input));
    if (slides_) {
      values_.push_back(value ? std::optional(Value(*value)) : std::nullopt);
      values_bytes_ += bytes_of(values_.back());
    }
    GM_TRY(state_->add(value, partition_->document(at)));
    // The window of the first document may already have the whole partition.
    return bytes() <= bytes_max_ ? Status() : window_memory_exceeded(bytes(), bytes_max_);
  }

  // Removes the documents before the new window. As on servers, this happens after the new
  // documents are added, because the order affects the last digits of sums.
  Status leave(const std::optional<WindowFrame::Span>& span) {
    if (!span_) return {};
    if (slides_) {
      for (size_t at = span_->first; !values_.empty() && (!span || at < span->first); ++at) {
        GM_TRY(remove());
      }
    } else if (!span) {
      state_->reset();
      result_.reset();
    }
    return {};
  }

  Status remove() {
    GM_TRY(check_interruption());
    result_.reset();
    const std::optional<Value> oldest = std::move(values_.front());
    values_.pop_front();
    values_bytes_ -= bytes_of(oldest);
    return state_->remove(oldest ? MaybeValue(oldest->view()) : std::nullopt, values_);
  }

  const WindowFunction& function_;
  Evaluator& evaluator_;
  WindowFrame frame_;
  const bool slides_;
  const uint64_t bytes_max_;
  const std::unique_ptr<WindowState> state_;
  const WindowPartition* partition_ = nullptr;
  std::optional<WindowFrame::Span> span_;  // the window of the previous document
  WindowValues values_;                    // only if the window slides
  uint64_t values_bytes_ = 0;
  std::optional<std::optional<Value>> result_;  // nothing if the window has changed since then
};

// A function that depends only on the ends of the window.
class FrameEvaluation : public WindowEvaluation {
 public:
  FrameEvaluation(const WindowFunction& function, Evaluator& evaluator)
      : function_(function),
        evaluator_(evaluator),
        frame_(function.bounds, function.sort_value.get(), evaluator) {}

  void begin(const WindowPartition& partition) override {
    partition_ = &partition;
    frame_.begin(partition);
  }

 protected:
  const WindowFunction& function_;
  Evaluator& evaluator_;
  WindowFrame frame_;
  const WindowPartition* partition_ = nullptr;
};

// $first, $last and $shift.
class EndEvaluation : public FrameEvaluation {
 public:
  using FrameEvaluation::FrameEvaluation;

  WindowResult next(size_t current) override {
    GM_ASSIGN(const std::optional<WindowFrame::Span> span, frame_.move_to(current));
    if (!span) return function_.if_empty;
    const bool is_first = function_.kind == WindowFunction::Kind::kFirst;
    partition_->begin_document(is_first ? span->first : span->last, evaluator_);
    GM_ASSIGN(const MaybeValue value, evaluator_.evaluate(*function_.input));
    if (!value) return std::nullopt;
    return Value(*value);
  }
};

// The slope of the line between the first and the last point of the window.
class DerivativeEvaluation : public FrameEvaluation {
 public:
  using FrameEvaluation::FrameEvaluation;

  WindowResult next(size_t current) override {
    GM_ASSIGN(const std::optional<WindowFrame::Span> span, frame_.move_to(current));
    if (!span) return Value();
    GM_ASSIGN(const std::optional<Value> from, value_of(*function_.sort_value, span->first));
    GM_ASSIGN(const std::optional<Value> to, value_of(*function_.sort_value, span->last));
    GM_TRY(check_ends(from, to));
    GM_ASSIGN(const Value run, arithmetic_.subtract(*to, *from));
    GM_ASSIGN(const Value rise, rise_over(*span));
    Result<Value> slope = arithmetic_.divide(rise, run);
    // There is no slope if both ends have the same sort value, as in a window of one document.
    if (!slope && slope.error().code() == ErrorCode::kBadValue) return Value();
    if (!slope) return fail(std::move(slope).error());
    if (!function_.unit_ms) return *slope;
    GM_ASSIGN(const Value scaled, arithmetic_.multiply(*slope, Value(*function_.unit_ms)));
    return scaled;
  }

 private:
  Result<std::optional<Value>> value_of(const Expression& expression, size_t at) {
    partition_->begin_document(at, evaluator_);
    GM_ASSIGN(const MaybeValue value, evaluator_.evaluate(expression));
    return value ? std::optional(Value(*value)) : std::nullopt;
  }

  Status check_ends(const std::optional<Value>& from, const std::optional<Value>& to) const {
    const auto is_date = [](const auto& value) { return value && value->type() == Type::kDate; };
    const auto is_number = [](const auto& value) { return value && value->view().is_number(); };
    if (function_.unit_ms) {
      if (is_date(from) && is_date(to)) return {};
      return fail(ErrorCode{5624900},
                  "$derivative with 'unit' expects the sortBy field to be a Date");
    }
    if (is_date(from) || is_date(to)) {
      return fail(ErrorCode{5624901}, "$derivative where the sortBy is a Date requires an 'unit'");
    }
    if (is_number(from) && is_number(to)) return {};
    return fail(ErrorCode{5624902},
                "$derivative (with no 'unit') expects the sortBy field to be numeric");
  }

  Result<Value> rise_over(const WindowFrame::Span& span) {
    GM_ASSIGN(const std::optional<Value> last, value_of(*function_.input, span.last));
    GM_ASSIGN(const std::optional<Value> first, value_of(*function_.input, span.first));
    GM_ASSIGN(Value rise, arithmetic_.subtract(last.value_or(Value()), first.value_or(Value())));
    if (!bson::is_nullish(rise.type())) return rise;
    return fail(ErrorCode{5624903}, "$derivative input must not be null or missing");
  }

  ValueArithmetic arithmetic_;
};

}  // namespace

Status window_memory_exceeded(uint64_t bytes, uint64_t bytes_max) {
  return fail(ErrorCode{5414201}, "Exceeded memory limit in DocumentSourceSetWindowFields, used " +
                                      std::to_string(bytes) + " bytes but max allowed is " +
                                      std::to_string(bytes_max));
}

Result<std::unique_ptr<WindowEvaluation>> make_window_evaluation(const WindowFunction& function,
                                                                 Evaluator& evaluator,
                                                                 uint64_t bytes_max) {
  switch (function.kind) {
    case WindowFunction::Kind::kFirst:
    case WindowFunction::Kind::kLast:
      return std::make_unique<EndEvaluation>(function, evaluator);
    case WindowFunction::Kind::kDerivative:
      return std::make_unique<DerivativeEvaluation>(function, evaluator);
    case WindowFunction::Kind::kLinearFill:
      return make_linear_fill(function, evaluator);
    case WindowFunction::Kind::kState:
      break;
  }
  WindowStateSettings settings{function, 1, bytes_max, evaluator.context().strings};
  if (function.n != nullptr) {
    evaluator.begin(bson::View());
    GM_ASSIGN(settings.n, evaluate_n(*function.n, evaluator));
  }
  return std::make_unique<StateEvaluation>(function, evaluator, settings);
}

}  // namespace gridmount::query
