// Accumulators whose result is an array in the order of the documents: $push, $addToSet, $firstN
// and $lastN.

#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/bson/key_string.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/key_hash.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using MaybeValue = std::optional<ValueView>;

// Consecutive values. Each is stored as its type and its bytes.
class PackedValues {
 public:
  void add(ValueView value) {
    bytes_.push_back(static_cast<uint8_t>(value.type()));
    bytes_.insert(bytes_.end(), value.data(), value.data() + value.size());
  }
  uint64_t bytes() const { return bytes_.size(); }
  void write(std::string_view field, DocumentOutput& output) const {
    output.open_array(field);
    for (size_t at = 0; at < bytes_.size();) {
      const auto type = static_cast<Type>(bytes_[at]);
      const uint8_t* const data = bytes_.data() + at + 1;
      const uint32_t size = bson::value_bytes(type, data);
      output.push(ValueView(type, data, size));
      at += 1 + size;
    }
    output.close();
  }

 private:
  std::vector<uint8_t> bytes_;
};

class Push : public Accumulator {
 public:
  explicit Push(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!value) return {};
    values_.add(*value);
    bytes_ = values_.bytes();
    if (bytes_ > bytes_max_) return used_too_much("$push", bytes_max_);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    values_.write(field, output);
  }

 private:
  const uint64_t bytes_max_;
  PackedValues values_;
};

class AddToSet : public Accumulator {
 public:
  explicit AddToSet(const AccumulatorSettings& settings)
      : bytes_max_(settings.bytes_max), strings_(settings.strings) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (!value) return {};
    std::string key;
    bson::append_key_string(key, *value, false, strings_);
    const uint64_t key_bytes = key.capacity();
    if (!known_.insert(std::move(key)).second) return {};
    known_bytes_ += key_bytes + kNodeBytes;
    values_.add(*value);
    bytes_ = known_bytes_ + values_.bytes();
    if (bytes_ > bytes_max_) return used_too_much("$addToSet", bytes_max_);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    values_.write(field, output);
  }

 private:
  static constexpr uint64_t kNodeBytes = 64;
  struct Hash {
    size_t operator()(const std::string& key) const { return hash_of_key(key); }
  };

  const uint64_t bytes_max_;
  const bson::StringOrder* const strings_;
  std::unordered_set<std::string, Hash> known_;
  uint64_t known_bytes_ = 0;
  PackedValues values_;
};

// A missing value counts as null.
class FirstOrLastN : public Accumulator {
 public:
  FirstOrLastN(const AccumulatorSettings& settings, bool last)
      : n_(static_cast<uint64_t>(settings.n)), last_(last), bytes_max_(settings.bytes_max) {}

  Status add(const MaybeValue& value, bson::View) override {
    if (values_.size() == n_) {
      if (!last_) return {};
      bytes_ -= bytes_of(values_.front());
      values_.pop_front();
    }
    values_.push_back(value ? Value(*value) : Value());
    bytes_ += bytes_of(values_.back());
    if (bytes_ > bytes_max_) return used_too_much(last_ ? "$lastN" : "$firstN", bytes_max_);
    return {};
  }
  void write(std::string_view field, DocumentOutput& output) const override {
    output.open_array(field);
    for (const Value& value : values_) output.push(value.view());
    output.close();
  }

 private:
  static uint64_t bytes_of(const Value& value) { return sizeof value + value.bytes().capacity(); }

  const uint64_t n_;
  const bool last_;
  const uint64_t bytes_max_;
  std::deque<Value> values_;
};

}  // namespace

tl::unexpected<Error> used_too_much(std::string_view name, uint64_t bytes_max) {
  return fail(ErrorCode::kExceededMemoryLimit,
              std::string(name) + " used too much memory and cannot spill to disk. Memory limit: " +
                  std::to_string(bytes_max) + " bytes");
}

std::unique_ptr<Accumulator> make_push(const AccumulatorSettings& settings) {
  return std::make_unique<Push>(settings.bytes_max);
}

std::unique_ptr<Accumulator> make_add_to_set(const AccumulatorSettings& settings) {
  return std::make_unique<AddToSet>(settings);
}

std::unique_ptr<Accumulator> make_first_n(const AccumulatorSettings& settings) {
  return std::make_unique<FirstOrLastN>(settings, false);
}

std::unique_ptr<Accumulator> make_last_n(const AccumulatorSettings& settings) {
  return std::make_unique<FirstOrLastN>(settings, true);
}

}  // namespace gridmount::query
