// Window functions whose results are chosen from the values in the window: $push, $addToSet,
// $firstN, $lastN, $min, $max, $minN and $maxN.

#include <set>

#include "engine/bson/compare.h"
#include "engine/query/interruption.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

// An array that is built value by value.
class ArrayResult {
 public:
  ArrayResult() { output_.open_array(""); }
  void push(ValueView value) { output_.push(value); }
  WindowResult finish() {
    output_.close();
    GM_ASSIGN(const bson::View holder, output_.finish());
    return Value((*holder.begin()).value);
  }

 private:
  DocumentOutput output_;
};

// The window itself has the values, so there is nothing else to keep.
class WindowOnly : public WindowState {
 public:
  Status add(const MaybeValue&, bson::View) override { return {}; }
  void reset() override {}
};

class SlidingPush : public WindowOnly {
 public:
  WindowResult result(const WindowValues& values) override {
    ArrayResult array;
    for (const std::optional<Value>& value : values) {
      if (value) array.push(*value);
    }
    return array.finish();
  }
};

// A missing value counts as null.
class SlidingEndN : public WindowOnly {
 public:
  SlidingEndN(int64_t n, bool last) : n_(static_cast<uint64_t>(n)), last_(last) {}

  WindowResult result(const WindowValues& values) override {
    const size_t count = std::min<uint64_t>(n_, values.size());
    const size_t begin = last_ ? values.size() - count : 0;
    ArrayResult array;
    for (size_t i = begin; i < begin + count; ++i) {
      array.push(values[i] ? values[i]->view() : Value().view());
    }
    return array.finish();
  }

 private:
  const uint64_t n_;
  const bool last_;
};

// Values in their order. Equal values stay in the order in which they were added.
class OrderedValues : public WindowState {
 public:
  explicit OrderedValues(const bson::StringOrder* strings) : values_(Less{strings}) {}

  Status remove(const MaybeValue& value, const WindowValues&) override {
    if (!is_kept(value)) return {};
    const auto oldest = values_.find(Value(*value));
    if (oldest == values_.end()) return {};
    bytes_ -= bytes_of(*oldest);
    values_.erase(oldest);
    return {};
  }
  void reset() override {
    values_.clear();
    bytes_ = 0;
  }
  uint64_t bytes() const override { return bytes_; }

 protected:
  struct Less {
    const bson::StringOrder* strings;
    bool operator()(const Value& a, const Value& b) const {
      return bson::compare(a, b, strings) < 0;
    }
  };
  using Values = std::multiset<Value, Less>;

  virtual bool is_kept(const MaybeValue& value) const { return !bson::is_nullish(value); }
  const Values& values() const { return values_; }

  void insert(ValueView value) { bytes_ += bytes_of(*values_.insert(Value(value))); }
  void erase(Values::iterator at) {
    bytes_ -= bytes_of(*at);
    values_.erase(at);
  }

 private:
  static constexpr uint64_t kNodeBytes = 64;
  static uint64_t bytes_of(const Value& value) {
    return kNodeBytes + sizeof value + value.bytes().size();
  }

  Values values_;
  uint64_t bytes_ = 0;
};

class SlidingSet : public OrderedValues {
 public:
  using OrderedValues::OrderedValues;

  Status add(const MaybeValue& value, bson::View) override {
    if (value) insert(*value);
    return {};
  }
  WindowResult result(const WindowValues&) override {
    ArrayResult array;
    for (auto at = values().begin(); at != values().end(); at = values().upper_bound(*at)) {
      GM_TRY(check_interruption());
      array.push(*at);
    }
    return array.finish();
  }

 protected:
  bool is_kept(const MaybeValue& value) const override { return value.has_value(); }
};

// Null and missing values are ignored.
class SlidingExtreme : public OrderedValues {
 public:
  SlidingExtreme(bool greatest, const bson::StringOrder* strings)
      : OrderedValues(strings), greatest_(greatest) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (is_kept(value)) insert(*value);
    return {};
  }
  WindowResult result(const WindowValues&) override {
    if (values().empty()) return Value();
    return greatest_ ? *values().rbegin() : *values().begin();
  }

 private:
  const bool greatest_;
};

// Null and missing values are ignored. A growing window keeps only n values.
class WindowExtremeN : public OrderedValues {
 public:
  WindowExtremeN(const WindowStateSettings& settings, bool greatest, bool grows)
      : OrderedValues(settings.strings),
        n_(static_cast<uint64_t>(settings.n)),
        greatest_(greatest),
        grows_(grows) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!is_kept(value)) return {};
    if (grows_ && values().size() == n_) {
      const auto worst = greatest_ ? values().begin() : std::prev(values().end());
      const std::weak_ordering order = bson::compare(*value, *worst, values().key_comp().strings);
      if (greatest_ ? order <= 0 : order >= 0) return {};
      erase(worst);
    }
    insert(*value);
    return {};
  }
  WindowResult result(const WindowValues&) override {
    ArrayResult array;
    const auto push_first = [&](auto at, const auto end) {
      for (uint64_t i = 0; i < n_ && at != end; ++i, ++at) array.push(*at);
    };
    if (greatest_) {
      push_first(values().rbegin(), values().rend());
    } else {
      push_first(values().begin(), values().end());
    }
    return array.finish();
  }

 private:
  const uint64_t n_;
  const bool greatest_;
  const bool grows_;
};

}  // namespace

std::unique_ptr<WindowState> make_sliding_push(const WindowStateSettings&) {
  return std::make_unique<SlidingPush>();
}

std::unique_ptr<WindowState> make_sliding_first_n(const WindowStateSettings& settings) {
  return std::make_unique<SlidingEndN>(settings.n, false);
}

std::unique_ptr<WindowState> make_sliding_last_n(const WindowStateSettings& settings) {
  return std::make_unique<SlidingEndN>(settings.n, true);
}

std::unique_ptr<WindowState> make_sliding_add_to_set(const WindowStateSettings& settings) {
  return std::make_unique<SlidingSet>(settings.strings);
}

std::unique_ptr<WindowState> make_sliding_min(const WindowStateSettings& settings) {
  return std::make_unique<SlidingExtreme>(false, settings.strings);
}

std::unique_ptr<WindowState> make_sliding_max(const WindowStateSettings& settings) {
  return std::make_unique<SlidingExtreme>(true, settings.strings);
}

std::unique_ptr<WindowState> make_sliding_min_n(const WindowStateSettings& settings) {
  return std::make_unique<WindowExtremeN>(settings, false, false);
}

std::unique_ptr<WindowState> make_sliding_max_n(const WindowStateSettings& settings) {
  return std::make_unique<WindowExtremeN>(settings, true, false);
}

std::unique_ptr<WindowState> make_growing_min_n(const WindowStateSettings& settings) {
  return std::make_unique<WindowExtremeN>(settings, false, true);
}

std::unique_ptr<WindowState> make_growing_max_n(const WindowStateSettings& settings) {
  return std::make_unique<WindowExtremeN>(settings, true, true);
}

}  // namespace gridmount::query
