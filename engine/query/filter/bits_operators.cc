// $bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear. Source: MongoDB manual, "Bitwise Query
// Operators". Bit 0 is the least significant bit of a number, or of the first byte of binary data.
// Numbers are sign-extended beyond bit 63, and binary data is extended with zeros.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

// Returns the bytes of binary data. As on servers, data of the old subtype 2 includes the length at
// its beginning.
std::span<const uint8_t> bytes_of(ValueView binary) {
  constexpr size_t kSizeAndSubtype = 5;
  return {binary.data() + kSizeAndSubtype, binary.size() - kSizeAndSubtype};
}

// The bits of a value, byte by byte. Bytes beyond the value exist too, at any position.
class Bits {
 public:
  // Returns nullopt for numbers that are not 64-bit integers, and for other types.
  static std::optional<Bits> of(ValueView value) {
    if (value.type() == Type::kBinary) {
      const std::span<const uint8_t> bytes = bytes_of(value);
      return Bits(bytes.data(), bytes.size(), 0);
    }
    const std::optional<int64_t> number = value.integral();
    if (!number) return std::nullopt;
    return Bits(*number);
  }

  uint8_t byte(size_t position) const {
    if (data_ != nullptr) return position < size_ ? data_[position] : beyond_;
    return position < sizeof number_ ? static_cast<uint8_t>(number_ >> (8 * position)) : beyond_;
  }

 private:
  explicit Bits(int64_t number)
      : number_(static_cast<uint64_t>(number)), beyond_(number < 0 ? 0xFF : 0) {}
  Bits(const uint8_t* data, size_t size, uint8_t beyond)
      : data_(data), size_(size), beyond_(beyond) {}

  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  uint64_t number_ = 0;
  uint8_t beyond_;
};

// A byte of the mask and its position. Bytes without set bits are left out, so that a mask of
// distant positions takes little memory.
struct MaskByte {
  uint32_t position;
  uint8_t bits;
};

std::vector<MaskByte> mask_of(const Bits& bits, size_t bytes) {
  std::vector<MaskByte> mask;
  for (size_t i = 0; i < bytes; ++i) {
    if (bits.byte(i) != 0) mask.push_back({static_cast<uint32_t>(i), bits.byte(i)});
  }
  return mask;
}

std::vector<MaskByte> mask_of(std::vector<uint32_t> positions) {
  std::sort(positions.begin(), positions.end());
  std::vector<MaskByte> mask;
  for (const uint32_t position : positions) {
    if (mask.empty() || mask.back().position != position / 8) mask.push_back({position / 8, 0});
    mask.back().bits = static_cast<uint8_t>(mask.back().bits | 1U << position % 8);
  }
  return mask;
}

enum class Asked { kAllSet, kAnySet, kAllClear, kAnyClear };

class BitsTest : public ValueTest {
 public:
  BitsTest(Asked asked, std::vector<MaskByte> mask) : asked_(asked), mask_(std::move(mask)) {}

  bool test(ValueView value, MatchContext&) const override {
    const std::optional<Bits> bits = Bits::of(value);
    if (!bits) return false;
    const auto set = [&](const MaskByte& byte) {
      return static_cast<uint8_t>(bits->byte(byte.position) & byte.bits);
    };
    const auto all_set = [&](const MaskByte& byte) { return set(byte) == byte.bits; };
    const auto any_set = [&](const MaskByte& byte) { return set(byte) != 0; };
    switch (asked_) {
      case Asked::kAllSet:
        return std::all_of(mask_.begin(), mask_.end(), all_set);
      case Asked::kAnySet:
        return std::any_of(mask_.begin(), mask_.end(), any_set);
      case Asked::kAllClear:
        return std::none_of(mask_.begin(), mask_.end(), any_set);
      case Asked::kAnyClear:
        return !std::all_of(mask_.begin(), mask_.end(), all_set);
    }
    return false;
  }

 private:
  Asked asked_;
  std::vector<MaskByte> mask_;
};

Result<std::vector<uint32_t>> positions_of(bson::View list) {
  std::vector<uint32_t> positions;
  for (const bson::Element element : list) {
    const auto refuse = [&](const char* why) {
      return fail(ErrorCode::kBadValue, "bit positions " + std::string(why) + ": " +
                                            show_operand(element.key, element.value));
    };
    if (!element.value.is_number()) return refuse("must be an integer but got");
    if (std::isnan(element.value.number().value_or(0))) return refuse("cannot take a NaN");
    const std::optional<int64_t> position = element.value.integral();
    if (!position && std::abs(element.value.number().value_or(0)) < 0x1p31) {
      return refuse("must be an integer but got");
    }
    if (!position || *position > std::numeric_limits<int32_t>::max() ||
        *position < std::numeric_limits<int32_t>::min()) {
      return refuse("cannot be represented as a 32-bit signed integer");
    }
    if (*position < 0) return refuse("must be >= 0 but got");
    positions.push_back(static_cast<uint32_t>(*position));
  }
  return positions;
}

Result<std::vector<MaskByte>> parse_mask(const OperatorCall& call) {
  if (call.operand.type() == Type::kArray) {
    GM_ASSIGN(std::vector<uint32_t> positions, positions_of(call.operand.as_document()));
    return mask_of(std::move(positions));
  }
  if (call.operand.is_number()) {
    GM_TRY(non_negative_integer(call.name, call.operand));
    return mask_of(*Bits::of(call.operand), sizeof(int64_t));
  }
  if (call.operand.type() == Type::kBinary) {
    return mask_of(*Bits::of(call.operand), bytes_of(call.operand).size());
  }
  return fail(ErrorCode::kBadValue, std::string(call.path) +
                                        " takes an Array, a number, or a BinData but received: " +
                                        show_operand(call.name, call.operand));
}

Result<TestGroup> parse_bits(Asked asked, const OperatorCall& call) {
  GM_ASSIGN(std::vector<MaskByte> mask, parse_mask(call));
  return one_test(std::make_unique<BitsTest>(asked, std::move(mask)));
}

}  // namespace

Result<TestGroup> parse_bits_all_set(const OperatorCall& call) {
  return parse_bits(Asked::kAllSet, call);
}

Result<TestGroup> parse_bits_any_set(const OperatorCall& call) {
  return parse_bits(Asked::kAnySet, call);
}

Result<TestGroup> parse_bits_all_clear(const OperatorCall& call) {
  return parse_bits(Asked::kAllClear, call);
}

Result<TestGroup> parse_bits_any_clear(const OperatorCall& call) {
  return parse_bits(Asked::kAnyClear, call);
}

}  // namespace gridmount::query
