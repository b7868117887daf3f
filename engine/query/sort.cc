#include "engine/query/sort.h"

#include "engine/bson/compare.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr size_t kPartsMax = 32;

// The least of the values a path reaches, or the greatest.
class Extreme {
 public:
  explicit Extreme(bool greatest) : greatest_(greatest) {}

  void add(ValueView value) {
    if (value_ && (bson::compare(value, *value_) < 0) == greatest_) return;
    value_ = Value(value);
  }

  // An array stands for its elements, an empty one for less than null.
  void add_leaf(ValueView value) {
    if (value.type() != Type::kArray) {
      add(value);
      return;
    }
    const bson::View elements = value.as_document();
    if (elements.empty()) add(ValueView(Type::kUndefined, nullptr, 0));
    for (const bson::Element element : elements) add(element.value);
  }

  Value take() { return value_ ? *std::move(value_) : Value(); }

 private:
  bool greatest_;
  std::optional<Value> value_;
};

}  // namespace

Result<Sort> Sort::parse(bson::View specification) {
  Sort sort;
  for (const bson::Element element : specification) {
    const std::string key(element.key);
    if (key.empty() || key.starts_with('$')) {
      return fail(ErrorCode::kBadValue,
                  "cannot sort by '" + key + "': the field's name is empty or begins with '$'");
    }
    const std::optional<int64_t> direction = element.value.integral();
    if (direction != 1 && direction != -1) {
      return fail(ErrorCode::kBadValue, "bad sort specification: the direction of '" + key +
                                            "' must be 1 (for ascending) or -1 (for descending)");
    }
    if (sort.parts_.size() == kPartsMax) {
      return fail(ErrorCode::kBadValue, "too many fields to sort by, at most 32 are allowed");
    }
    sort.parts_.push_back({bson::Path(key), direction == -1});
  }
  return sort;
}

std::vector<Value> Sort::key_of(bson::View document) const {
  std::vector<Value> key;
  key.reserve(parts_.size());
  for (const Part& part : parts_) {
    Extreme extreme(part.descending);
    part.path.visit(document, [&](const bson::Path::Reached& reached) {
      if (reached.value) {
        extreme.add_leaf(*reached.value);
      } else {
        extreme.add(ValueView(Type::kNull, nullptr, 0));
      }
      return true;
    });
    key.push_back(extreme.take());
  }
  return key;
}

std::weak_ordering Sort::compare_keys(const std::vector<Value>& a,
                                      const std::vector<Value>& b) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::weak_ordering order =
        parts_[i].descending ? bson::compare(b[i], a[i]) : bson::compare(a[i], b[i]);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

}  // namespace gridmount::query
