// Accumulators that keep the first or last values in an order: $minN, $maxN, $top, $topN, $bottom
// and $bottomN.

#include <string>

#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/sort_buffer.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;
using Keep = SortBuffer::Keep;

class Sorted : public Accumulator {
 public:
  Sorted(std::vector<bool> descending, const AccumulatorSettings& settings, Keep keep)
      : buffer_(std::move(descending), settings.strings, static_cast<uint64_t>(settings.n), keep),
        bytes_max_(settings.bytes_max) {}

  void write(std::string_view field, DocumentOutput& output) const override {
    if (Status sorted = buffer_.sort(); !sorted) return output.fail(std::move(sorted).error());
    output.open_array(field);
    for (size_t i = 0; i < buffer_.size(); ++i) output.push(buffer_.payload(i));
    output.close();
  }

 protected:
  Status keep(std::span<const ValueView> key, ValueView value) {
    buffer_.add(key, value);
    bytes_ = buffer_.bytes();
    if (bytes_ <= bytes_max_) return {};
    return fail(ErrorCode::kExceededMemoryLimit,
                "Accumulator used too much memory and cannot spill to disk. Memory "
                "limit: " +
                    std::to_string(bytes_max_) + " bytes");
  }

  // Mutable because write() sorts it. A result is written once, when the group is complete.
  mutable SortBuffer buffer_;

 private:
  const uint64_t bytes_max_;
};

// Orders by the values themselves. Null and missing values are ignored.
class ExtremeN : public Sorted {
 public:
  ExtremeN(const AccumulatorSettings& settings, bool greatest)
      : Sorted({greatest}, settings, Keep::kFirst) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!value || value->type() == Type::kNull || value->type() == Type::kUndefined) return {};
    return keep(std::span(&*value, 1), ValueView(Type::kNull, nullptr, 0));
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    if (Status sorted = buffer_.sort(); !sorted) return output.fail(std::move(sorted).error());
    output.open_array(field);
    for (size_t i = 0; i < buffer_.size(); ++i) output.push(buffer_.key(i, 0));
    output.close();
  }
};

// Orders by fields of the documents. A missing output becomes null.
class TopOrBottom : public Sorted {
 public:
  TopOrBottom(const AccumulatorSettings& settings, Keep keep_which, bool single)
      : Sorted(directions_of(*settings.sort), settings, keep_which),
        keys_(*settings.sort),
        single_(single) {}

  Status add(const MaybeValue& value, bson::View document) override {
    GM_ASSIGN(const std::span<const ValueView> key, keys_.read(document));
    if (!buffer_.would_keep(key)) return {};
    return keep(key, value.value_or(ValueView(Type::kNull, nullptr, 0)));
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    if (!single_) return Sorted::write(field, output);
    if (buffer_.size() == 0) return output.append_null(field);
    output.append(field, buffer_.payload(0));
  }

 private:
  ExpressionKeyReader keys_;
  const bool single_;
};

}  // namespace

std::unique_ptr<Accumulator> make_min_n(const AccumulatorSettings& settings) {
  return std::make_unique<ExtremeN>(settings, false);
}

std::unique_ptr<Accumulator> make_max_n(const AccumulatorSettings& settings) {
  return std::make_unique<ExtremeN>(settings, true);
}

std::unique_ptr<Accumulator> make_top(const AccumulatorSettings& settings) {
  return std::make_unique<TopOrBottom>(settings, Keep::kFirst, true);
}

std::unique_ptr<Accumulator> make_top_n(const AccumulatorSettings& settings) {
  return std::make_unique<TopOrBottom>(settings, Keep::kFirst, false);
}

std::unique_ptr<Accumulator> make_bottom(const AccumulatorSettings& settings) {
  return std::make_unique<TopOrBottom>(settings, Keep::kLast, true);
}

std::unique_ptr<Accumulator> make_bottom_n(const AccumulatorSettings& settings) {
  return std::make_unique<TopOrBottom>(settings, Keep::kLast, false);
}

}  // namespace gridmount::query
