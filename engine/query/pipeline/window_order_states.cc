// Window functions of all documents up to the current one: $rank, $denseRank, $documentNumber,
// $expMovingAvg and $locf.

#include "engine/bson/compare.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

Value int_or_long_rank(int64_t rank) {
  const auto narrow = static_cast<int32_t>(rank);
  return narrow == rank ? Value(narrow) : Value(rank);
}

// The input is the value of the sort field. Null and missing have different ranks, as on servers.
class Rank : public WindowState {
 public:
  enum class Kind { kRank, kDense, kNumber };

  Rank(Kind kind, const bson::StringOrder* strings) : kind_(kind), strings_(strings) {}

  Status add(const MaybeValue& value, bson::View) override {
    ++number_;
    if (kind_ == Kind::kNumber || !has_last_ || !is_last(value)) {
      rank_ = kind_ == Kind::kRank ? number_ : rank_ + 1;
      has_last_ = true;
      last_ = value ? std::optional(Value(*value)) : std::nullopt;
    }
    return {};
  }
  void reset() override {
    number_ = 0;
    rank_ = 0;
    has_last_ = false;
  }
  WindowResult result(const WindowValues&) override { return int_or_long_rank(rank_); }

 private:
  bool is_last(const MaybeValue& value) const {
    if (!value || !last_) return !value && !last_;
    return bson::compare(*value, *last_, strings_) == 0;
  }

  const Kind kind_;
  const bson::StringOrder* const strings_;
  int64_t number_ = 0;
  int64_t rank_ = 0;
  bool has_last_ = false;
  std::optional<Value> last_;
};

// Values that are not numbers are ignored.
class MovingAverage : public WindowState {
 public:
  explicit MovingAverage(bson::Decimal128 alpha) : alpha_(alpha) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!value || !value->is_number()) return {};
    if (value->type() == Type::kDecimal128) is_decimal_ = true;
    const bson::Decimal128 number = to_decimal(*value);
    if (average_) {
      const bson::Decimal128 one = to_decimal(Value(int32_t{1}));
      average_ = query::add(multiply(number, alpha_), multiply(*average_, subtract(one, alpha_)));
    } else {
      average_ = number;
    }
    return {};
  }
  void reset() override { average_.reset(); }
  WindowResult result(const WindowValues&) override {
    if (!average_) return Value();
    const Value average = value_of(*average_);
    return is_decimal_ ? average : Value(*average.view().number());
  }

 private:
  const bson::Decimal128 alpha_;
  std::optional<bson::Decimal128> average_;
  bool is_decimal_ = false;  // stays set in later partitions, as on servers
};

// The last observation is carried forward over null and missing values.
class LastObservation : public WindowState {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (!bson::is_nullish(value)) last_ = Value(*value);
    return {};
  }
  void reset() override { last_ = Value(); }
  WindowResult result(const WindowValues&) override { return last_; }
  uint64_t bytes() const override { return last_.bytes().size(); }

 private:
  Value last_;
};

}  // namespace

std::unique_ptr<WindowState> make_rank(const WindowStateSettings& settings) {
  return std::make_unique<Rank>(Rank::Kind::kRank, settings.strings);
}

std::unique_ptr<WindowState> make_dense_rank(const WindowStateSettings& settings) {
  return std::make_unique<Rank>(Rank::Kind::kDense, settings.strings);
}

std::unique_ptr<WindowState> make_document_number(const WindowStateSettings& settings) {
  return std::make_unique<Rank>(Rank::Kind::kNumber, settings.strings);
}

std::unique_ptr<WindowState> make_moving_average(const WindowStateSettings& settings) {
  return std::make_unique<MovingAverage>(*settings.function.alpha);
}

std::unique_ptr<WindowState> make_last_observation(const WindowStateSettings&) {
  return std::make_unique<LastObservation>();
}

}  // namespace gridmount::query
