// $top, $topN, $bottom and $bottomN over windows. They order by fields of the documents.

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "engine/bson/compare.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/sort_buffer.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

struct SortedWindowOptions {
  bool bottom;
  bool single;
  bool grows;
};

// Documents with equal keys stay in their order. A missing output becomes null. A growing window
// keeps only n documents. sort_buffer.h says which of several equal ones it keeps.
class SortedWindow : public WindowState {
 public:
  SortedWindow(const WindowStateSettings& settings, SortedWindowOptions options)
      : sort_(*settings.function.order),
        keys_(sort_),
        n_(static_cast<uint64_t>(settings.n)),
        options_(options),
        records_(Less{&sort_}) {}

  Status add(const MaybeValue& value, bson::View document) override {
    GM_ASSIGN(const std::span<const ValueView> read, keys_.read(document));
    Key key(read.begin(), read.end());
    if (options_.grows && records_.size() == n_ && !beats_worst(key)) return {};
    const auto at = records_.emplace(std::move(key), value ? Value(*value) : Value());
    bytes_ += bytes_of(*at);
    if (!options_.grows) {
      order_added_.push_back(at);
    } else if (records_.size() > n_) {
      erase(options_.bottom ? records_.begin() : std::prev(records_.end()));
    }
    return {};
  }
  Status remove(const MaybeValue&, const WindowValues&) override {
    erase(order_added_.front());
    order_added_.pop_front();
    return {};
  }
  void reset() override {
    records_.clear();
    order_added_.clear();
    bytes_ = 0;
  }
  WindowResult result(const WindowValues&) override {
    const uint64_t count = std::min<uint64_t>(n_, records_.size());
    auto at = options_.bottom ? std::prev(records_.end(), static_cast<std::ptrdiff_t>(count))
                              : records_.begin();
    if (options_.single) return count == 0 ? Value() : at->second;
    output_.begin();
    output_.open_array("");
    for (uint64_t i = 0; i < count; ++i, ++at) output_.push(at->second);
    output_.close();
    GM_ASSIGN(const bson::View holder, output_.finish());
    return Value((*holder.begin()).value);
  }
  uint64_t bytes() const override { return bytes_; }

 private:
  using Key = std::vector<Value>;
  struct Less {
    bool operator()(const Key& a, const Key& b) const { return sort->compare_keys(a, b) < 0; }
    const Sort* sort;
  };
  using Records = std::multimap<Key, Value, Less>;

  static uint64_t bytes_of(const Records::value_type& record) {
    constexpr uint64_t kRecordBytes = 128;
    uint64_t bytes = kRecordBytes + record.second.bytes().size();
    for (const Value& part : record.first) bytes += sizeof part + part.bytes().size();
    return bytes;
  }

  bool beats_worst(const Key& key) const {
    if (options_.bottom) return sort_.compare_keys(key, records_.begin()->first) > 0;
    return sort_.compare_keys(key, records_.rbegin()->first) < 0;
  }

  void erase(Records::iterator at) {
    bytes_ -= bytes_of(*at);
    records_.erase(at);
  }

  const Sort& sort_;
  ExpressionKeyReader keys_;
  const uint64_t n_;
  const SortedWindowOptions options_;
  Records records_;
  std::deque<Records::iterator> order_added_;
  uint64_t bytes_ = 0;
  DocumentOutput output_;
};

}  // namespace

std::unique_ptr<WindowState> make_growing_top(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{false, true, true});
}

std::unique_ptr<WindowState> make_growing_top_n(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{false, false, true});
}

std::unique_ptr<WindowState> make_growing_bottom(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{true, true, true});
}

std::unique_ptr<WindowState> make_growing_bottom_n(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{true, false, true});
}

std::unique_ptr<WindowState> make_sliding_top(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{false, true, false});
}

std::unique_ptr<WindowState> make_sliding_top_n(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{false, false, false});
}

std::unique_ptr<WindowState> make_sliding_bottom(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{true, true, false});
}

std::unique_ptr<WindowState> make_sliding_bottom_n(const WindowStateSettings& settings) {
  return std::make_unique<SortedWindow>(settings, SortedWindowOptions{true, false, false});
}

}  // namespace gridmount::query
