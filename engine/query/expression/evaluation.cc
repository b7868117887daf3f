#include "engine/query/expression/evaluation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>

#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/date_format.h"
#include "engine/query/expression/time_zone.h"
#include "engine/query/interruption.h"

namespace gridmount::query {

using bson::Type;
using bson::ValueView;

std::weak_ordering compare_expression_values(const std::optional<ValueView>& a,
                                             const std::optional<ValueView>& b,
                                             const bson::StringOrder* strings) {
  const auto order_of = [](const std::optional<ValueView>& value) {
    return value ? bson::canonical_order(value->type()) : 0;
  };
  if (a && b) return bson::compare(*a, *b, strings);
  return order_of(a) <=> order_of(b);
}

bool is_true(const std::optional<ValueView>& value) {
  if (!value) return false;
  switch (value->type()) {
    case Type::kNull:
    case Type::kUndefined:
      return false;
    case Type::kBool:
      return value->as_bool();
    case Type::kInt32:
      return value->as_int32() != 0;
    case Type::kInt64:
      return value->as_int64() != 0;
    case Type::kDouble:
      return value->as_double() != 0;
    case Type::kDecimal128:
      return !is_zero(value->as_decimal128());
    default:
      return true;
  }
}

namespace expressions {
namespace {

constexpr ErrorCode kCannotConvertToDate{16006};
constexpr ErrorCode kCannotConvertToString{16007};

// The limit for the text of a value in a message.
constexpr size_t kShownBytesMax = 1000;

constexpr uint8_t kFalse = 0;
constexpr uint8_t kTrue = 1;

void show_into(std::string& text, ValueView value);

void show_elements(std::string& text, bson::View elements, bool with_names) {
  bool first = true;
  for (const bson::Element element : elements) {
    if (!first) text += ", ";
    first = false;
    if (text.size() > kShownBytesMax) {
      text += "...";
      return;
    }
    if (with_names) text.append(element.key).append(": ");
    show_into(text, element.value);
  }
}

// The recursion is bounded, because every value is nested at most kMaxDepth deep.
void show_into(std::string& text, ValueView value) {
  switch (value.type()) {
    case Type::kInt32:
      text += std::to_string(value.as_int32());
      break;
    case Type::kInt64:
      text += std::to_string(value.as_int64());
      break;
    case Type::kDouble:
      text += double_to_text(value.as_double());
      break;
    case Type::kDecimal128:
      text += decimal_to_text(value.as_decimal128());
      break;
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      text.append("\"").append(value.as_string().substr(0, kShownBytesMax)).append("\"");
      break;
    case Type::kBool:
      text += value.as_bool() ? "true" : "false";
      break;
    case Type::kNull:
      text += "null";
      break;
    case Type::kUndefined:
      text += "undefined";
      break;
    case Type::kMinKey:
      text += "MinKey";
      break;
    case Type::kMaxKey:
      text += "MaxKey";
      break;
    case Type::kDate:
      text += date_to_iso_text(value.as_date());
      break;
    case Type::kTimestamp: {
      const bson::Timestamp timestamp = value.as_timestamp();
      text += "Timestamp(" + std::to_string(timestamp.seconds) + ", " +
              std::to_string(timestamp.increment) + ")";
      break;
    }
    case Type::kObjectId:
      text += value.as_object_id().hex();
      break;
    case Type::kRegex: {
      const bson::Regex regex = value.as_regex();
      text.append("/").append(regex.pattern).append("/").append(regex.options);
      break;
    }
    case Type::kDocument:
      text += "{";
      show_elements(text, value.as_document(), true);
      text += "}";
      break;
    case Type::kArray:
      text += "[";
      show_elements(text, value.as_document(), false);
      text += "]";
      break;
    case Type::kBinary:
      text += "BinData(" + std::to_string(value.as_binary().subtype) + ", " +
              std::to_string(value.as_binary().size) + " bytes)";
      break;
    default:
      text += bson::type_alias(value.type());
  }
}

// Returns "Jan  1 00:00:00:2": month, day, time and increment.
std::string timestamp_to_text(bson::Timestamp timestamp) {
  const auto seconds = static_cast<time_t>(timestamp.seconds);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const size_t size = strftime(text, sizeof text, "%b %e %H:%M:%S", &parts);
  snprintf(text + size, sizeof text - size, ":%u", timestamp.increment);
  return text;
}

template <typename T>
Evaluated make_fixed(EvaluationContext& context, Type type, T value) {
  GM_ASSIGN(uint8_t* const data, ArenaAccess::allocate(context.arena, sizeof value));
  std::memcpy(data, &value, sizeof value);
  return MaybeValue(ValueView(type, data, sizeof value));
}

// Returns how many levels the value is nested, 0 for a scalar. Looks at most `limit` levels deep.
uint32_t depth_of(ValueView value, uint32_t limit) {
  if (value.type() != Type::kDocument && value.type() != Type::kArray) return 0;
  if (limit == 0) return 1;
  uint32_t deepest = 0;
  for (const bson::Element element : value.as_document()) {
    deepest = std::max(deepest, depth_of(element.value, limit - 1));
  }
  return deepest + 1;
}

}  // namespace

std::string_view type_name(const MaybeValue& value) {
  return value ? bson::type_alias(value->type()) : "missing";
}

std::string show(const MaybeValue& value) {
  if (!value) return "MISSING";
  std::string text;
  show_into(text, *value);
  return text;
}

std::optional<int32_t> whole32(const MaybeValue& value) {
  if (!is_number(value)) return std::nullopt;
  const std::optional<int64_t> whole = value->integral();
  if (!whole || *whole < std::numeric_limits<int32_t>::min() ||
      *whole > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*whole);
}

int64_t cut_to_int64(ValueView number) {
  switch (number.type()) {
    case Type::kInt32:
      return number.as_int32();
    case Type::kInt64:
      return number.as_int64();
    case Type::kDecimal128:
      if (const std::optional<int64_t> cut = cut_decimal_to_int64(number.as_decimal128())) {
        return *cut;
      }
      [[fallthrough]];
    default: {
      const double value = *number.number();
      if (std::isnan(value)) return 0;
      if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
      if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
      return static_cast<int64_t>(value);
    }
  }
}

std::string double_to_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char text[32];
  snprintf(text, sizeof text, "%.16g", value);
  return text;
}

// Formats like C++ streams. Servers use this form in all string operators except $toString.
std::string double_to_short_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  snprintf(text, sizeof text, "%g", value);
  return text;
}

Result<std::string_view> coerce_to_string(EvaluationContext& context, const MaybeValue& value) {
  if (is_nullish(value)) return std::string_view();
  std::string text;
  switch (value->type()) {
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      return value->as_string();
    case Type::kDouble:
      text = double_to_short_text(value->as_double());
      break;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128:
      text = show(value);
      break;
    case Type::kDate: {
      GM_ASSIGN(text, format_date("%Y-%m-%dT%H:%M:%S.%LZ", value->as_date(), TimeZone()));
      break;
    }
    case Type::kTimestamp:
      text = timestamp_to_text(value->as_timestamp());
      break;
    default:
      return fail(kCannotConvertToString,
                  "can't convert from BSON type " + std::string(type_name(value)) + " to String");
  }
  GM_ASSIGN(uint8_t* const data, ArenaAccess::allocate(context.arena, text.size()));
  std::copy(text.begin(), text.end(), data);
  return std::string_view(reinterpret_cast<const char*>(data), text.size());
}

bool is_coercible_to_date(const MaybeValue& value) {
  return is_type(value, Type::kDate) || is_type(value, Type::kTimestamp) ||
         is_type(value, Type::kObjectId);
}

Result<bson::Date> coerce_to_date(const MaybeValue& value) {
  if (is_type(value, Type::kDate)) return value->as_date();
  if (is_type(value, Type::kTimestamp)) {
    return bson::Date{int64_t{value->as_timestamp().seconds} * 1000};
  }
  if (is_type(value, Type::kObjectId)) {
    // Servers read the seconds as a signed number.
    return bson::Date{int64_t{static_cast<int32_t>(value->as_object_id().seconds())} * 1000};
  }
  return fail(kCannotConvertToDate,
              "can't convert from BSON type " + std::string(type_name(value)) + " to Date");
}

MaybeValue null_value() {
  return ValueView(Type::kNull, &kFalse, 0);
}

MaybeValue bool_value(bool value) {
  return ValueView(Type::kBool, value ? &kTrue : &kFalse, 1);
}

Evaluated give(EvaluationContext& context, int32_t value) {
  return make_fixed(context, Type::kInt32, value);
}
Evaluated give(EvaluationContext& context, int64_t value) {
  return make_fixed(context, Type::kInt64, value);
}
Evaluated give(EvaluationContext& context, double value) {
  return make_fixed(context, Type::kDouble, value);
}
Evaluated give(EvaluationContext& context, bson::Decimal128 value) {
  return make_fixed(context, Type::kDecimal128, std::array<uint64_t, 2>{value.low, value.high});
}
Evaluated give(EvaluationContext& context, bson::Date value) {
  return make_fixed(context, Type::kDate, value.milliseconds);
}
Evaluated give(EvaluationContext& context, bson::ObjectId value) {
  return make_fixed(context, Type::kObjectId, value.bytes());
}

Evaluated give(EvaluationContext& context, std::string_view text) {
  const size_t size = 4 + text.size() + 1;
  GM_ASSIGN(uint8_t* const data, ArenaAccess::allocate(context.arena, size));
  const auto length = static_cast<uint32_t>(text.size() + 1);
  std::memcpy(data, &length, sizeof length);
  if (!text.empty()) std::memcpy(data + 4, text.data(), text.size());
  data[size - 1] = 0;
  return MaybeValue(ValueView(Type::kString, data, static_cast<uint32_t>(size)));
}

Evaluated make_int_or_long(EvaluationContext& context, int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  if (narrow == value) return give(context, narrow);
  return give(context, value);
}

Status check_can_be_nested(ValueView value) {
  if (depth_of(value, bson::kMaxDepth) < bson::kMaxDepth) return {};
  return fail(ErrorCode::kOverflow,
              "cannot convert document to BSON because it exceeds the limit of " +
                  std::to_string(bson::kMaxDepth) + " levels of nesting");
}

std::vector<ValueView> elements_of(ValueView array) {
  std::vector<ValueView> elements;
  for (const bson::Element element : array.as_document()) elements.push_back(element.value);
  return elements;
}

// The number of steps that an element counts as (interruption.h), in addition to its bytes.
constexpr size_t kStepsOfAnElement = 16;

ValueOutput::ValueOutput(EvaluationContext& context, Type type)
    : context_(context), type_(type), held_(context.arena) {
  bson::begin_document(bytes_);
}

Status ValueOutput::reserve(uint64_t size) {
  // The total includes the final NUL. The size must also fit into the length field.
  const uint64_t total = uint64_t{bytes_.size()} + size + 1;
  const uint64_t limit = std::min<uint64_t>(context_.arena.bytes_left() + held_.bytes(),
                                            std::numeric_limits<int32_t>::max());
  if (total <= limit) return {};
  return fail(ErrorCode::kExceededMemoryLimit,
              "Expression used too much memory: an " + std::string(bson::type_alias(type_)) +
                  " of more than " + std::to_string(limit) + " bytes");
}

Status ValueOutput::expect(uint64_t elements, size_t value_bytes) {
  // Each element has a type byte, a key of at least one digit and the key's NUL.
  return reserve(elements * (1 + 2 + value_bytes));
}

void ValueOutput::put(Type type, std::string_view key, ValueView value) {
  bson::append_element_head(bytes_, type, key);
  bson::append_bytes(bytes_, value.data(), value.size());
  held_.set(bytes_.size());
  ++count_;
}

Status ValueOutput::push_element(ValueView value) {
  return append_field(array_key_.of(count_), value);
}

Status ValueOutput::push(ValueView value) {
  return append(array_key_.of(count_), value);
}

Status ValueOutput::append(std::string_view key, ValueView value) {
  GM_TRY(check_can_be_nested(value));
  return append_field(key, value);
}

Status ValueOutput::append_field(std::string_view key, ValueView value) {
  GM_TRY(reserve(key.size() + 2 + value.size()));
  GM_TRY(check_interruption_of(kStepsOfAnElement + value.size()));
  put(value.type(), key, value);
  return {};
}

Evaluated ValueOutput::finish() {
  GM_TRY(reserve(0));
  bson::end_document(bytes_, 0);
  held_.set(0);
  const ValueView made(type_, bytes_.data(), static_cast<uint32_t>(bytes_.size()));
  GM_ASSIGN(const ValueView kept, context_.arena.keep(made));
  return MaybeValue(kept);
}

}  // namespace expressions
}  // namespace gridmount::query
