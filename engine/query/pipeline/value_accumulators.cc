// Accumulators whose result is one value: $first, $last, $min, $max and $mergeObjects.

#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/bson/compare.h"
#include "engine/query/pipeline/accumulator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

// A single value. Its memory only grows.
class OneValue : public Accumulator {
 public:
  void write(std::string_view field, DocumentOutput& output) const override {
    if (!has_) return output.append_null(field);
    output.append(field, kept());
  }

 protected:
  bool has() const { return has_; }
  ValueView kept() const { return ValueView(type_, data(), size_); }
  void keep(ValueView value) {
    has_ = true;
    type_ = value.type();
    size_ = value.size();
    if (size_ > sizeof few_) {
      if (many_.size() < size_) many_.resize(size_);
      bytes_ = many_.capacity();
    }
    uint8_t* const to = size_ > sizeof few_ ? many_.data() : few_;
    if (size_ > 0) std::memcpy(to, value.data(), size_);
  }
  void clear() { has_ = false; }

 private:
  const uint8_t* data() const { return size_ > sizeof few_ ? many_.data() : few_; }

  bool has_ = false;
  Type type_ = Type::kNull;
  uint32_t size_ = 0;
  uint8_t few_[24];
  std::vector<uint8_t> many_;
};

class First : public OneValue {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (!begun_ && value) keep(*value);
    begun_ = true;
    return {};
  }

 private:
  bool begun_ = false;
};

class Last : public OneValue {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (value) {
      keep(*value);
    } else {
      clear();
    }
    return {};
  }
};

// Null and missing values are ignored.
class Extreme : public OneValue {
 public:
  Extreme(bool greatest, const bson::StringOrder* strings)
      : greatest_(greatest), strings_(strings) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (is_nullish(value)) return {};
    if (has()) {
      const std::weak_ordering order = bson::compare(*value, kept(), strings_);
      if (greatest_ ? order <= 0 : order >= 0) return {};
    }
    keep(*value);
    return {};
  }

 private:
  const bool greatest_;
  const bson::StringOrder* const strings_;
};

// Fields of later documents replace fields of the same name, in their place.
class MergeObjects : public Accumulator {
 public:
  Status add(const MaybeValue& value, bson::View) override {
    if (is_nullish(value)) return {};
    if (value->type() != Type::kDocument) {
      return fail(ErrorCode{40400}, "$mergeObjects requires object inputs, but input " +
                                        shown(*value) + " is of type " + type_name(*value));
    }
    for (const bson::Element element : value->as_document()) {
      const auto [at, is_new] = positions_.try_emplace(std::string(element.key), fields_.size());
      if (is_new) {
        fields_.emplace_back(at->first, Value(element.value));
        bytes_ += kFieldBytes + 2 * element.key.size() + element.value.size();
      } else {
        Value& field = fields_[at->second].second;
        bytes_ += element.value.size();
        bytes_ -= field.view().size();
        field = Value(element.value);
      }
    }
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    output.open_document(field);
    for (const auto& [name, value] : fields_) output.append(name, value.view());
    output.close();
  }

 private:
  static constexpr uint64_t kFieldBytes = 200;

  std::vector<std::pair<std::string, Value>> fields_;
  std::unordered_map<std::string, size_t> positions_;
};

}  // namespace

std::unique_ptr<Accumulator> make_first(const AccumulatorSettings&) {
  return std::make_unique<First>();
}

std::unique_ptr<Accumulator> make_last(const AccumulatorSettings&) {
  return std::make_unique<Last>();
}

std::unique_ptr<Accumulator> make_min(const AccumulatorSettings& settings) {
  return std::make_unique<Extreme>(false, settings.strings);
}

std::unique_ptr<Accumulator> make_max(const AccumulatorSettings& settings) {
  return std::make_unique<Extreme>(true, settings.strings);
}

std::unique_ptr<Accumulator> make_merge_objects(const AccumulatorSettings&) {
  return std::make_unique<MergeObjects>();
}

}  // namespace gridmount::query
