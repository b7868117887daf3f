// Functions for the evaluation of operators: they convert operands as servers do, and make results.
// Internal to engine/query. Thread-safety: one thread at a time may use a context and its arena.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/element_bytes.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query::expressions {

// nullopt means "missing".
using MaybeValue = std::optional<bson::ValueView>;
using Evaluated = Result<MaybeValue>;

// Gives access to the memory of an arena, for operators that create many values and keep few of
// them.
class ArenaAccess {
 public:
  struct Mark {
    size_t block;
    size_t used;
    uint64_t bytes;
  };
  static Mark mark(const Arena& arena);
  // Discards the values that were created since the mark. They must not be used afterwards.
  static void rewind(Arena& arena, const Mark& mark);
  // Returns whether the arena has allocated `data` since the mark.
  static bool made_since(const Arena& arena, const Mark& mark, const uint8_t* data);
  // Returns `size` bytes, which are not aligned. They are valid until rewind() to an earlier mark,
  // or Arena::clear(). Fails with ExceededMemoryLimit (146) if the arena does not have this many
  // bytes left, and as check_interruption_of() (interruption.h) does.
  static Result<uint8_t*> allocate(Arena& arena, size_t size);
  // Returns the size of all blocks, both those in use and those kept for later.
  static uint64_t capacity(const Arena& arena);
  // Counts `bytes` bytes of memory outside the arena as if they were in the arena, until refund().
  static void charge(Arena& arena, uint64_t bytes);
  static void refund(Arena& arena, uint64_t bytes);
};

// Counts bytes of memory outside the arena as if they were in the arena, until the destructor.
// ArenaAccess::rewind() does not change what a HeldBytes counts.
class HeldBytes {
 public:
  explicit HeldBytes(Arena& arena) : arena_(arena) {}
  ~HeldBytes() { set(0); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  uint64_t bytes() const { return bytes_; }
  void set(uint64_t bytes) {
    ArenaAccess::refund(arena_, bytes_);
    ArenaAccess::charge(arena_, bytes);
    bytes_ = bytes;
  }

 private:
  Arena& arena_;
  uint64_t bytes_ = 0;
};

// Sets the variable in this slot. Adds slots if the context has too few.
inline void set_variable(EvaluationContext& context, size_t slot, const MaybeValue& value) {
  if (slot >= context.variables.size()) context.variables.resize(slot + 1);
  context.variables[slot] = value;
}

// --- Operands.

// Returns "missing", or the alias of the type.
std::string_view type_name(const MaybeValue& value);

using bson::is_nullish;
inline bool is_type(const MaybeValue& value, bson::Type type) {
  return value && value->type() == type;
}
inline bool is_number(const MaybeValue& value) {
  return value && value->is_number();
}

// Returns the value's text for messages, such as {a: 1, b: "x"}. A long value is truncated.
std::string show(const MaybeValue& value);

// Returns the value as an int32. Returns nullopt if the value is missing, is not a number, is not
// integral or does not fit.
std::optional<int32_t> whole32(const MaybeValue& value);
// Converts a number of any type to an int64, rounded towards zero. A number out of range becomes
// the nearest int64, and NaN becomes 0.
int64_t cut_to_int64(bson::ValueView number);

// Converts a value to a string as the string operators do: numbers, dates and timestamps become
// text, symbols and code keep their text, and null, undefined and missing become "". Fails with
// Location16007 for other types, and with Location18537 for a date whose year is outside 0 to 9999.
// The result refers to the value or to the arena.
Result<std::string_view> coerce_to_string(EvaluationContext& context, const MaybeValue& value);
// Returns the date, or the time in the timestamp or the ObjectId, as a date. Fails with
// Location16006 for other types.
Result<bson::Date> coerce_to_date(const MaybeValue& value);
bool is_coercible_to_date(const MaybeValue& value);

// Returns a double as servers write it in most error messages: printf's %.16g, or NaN, Infinity or
// -Infinity. The operators that make strings write doubles in other forms: coerce_to_string()
// writes %g, and $toString the shortest text.
std::string double_to_text(double value);

// --- Results.

MaybeValue null_value();
MaybeValue bool_value(bool value);
inline Evaluated make_null() {
  return null_value();
}
inline Evaluated make_missing() {
  return MaybeValue();
}
inline Evaluated give(bool value) {
  return bool_value(value);
}
// Copy the value into the context's arena. Fail as ArenaAccess::allocate() does.
Evaluated give(EvaluationContext& context, int32_t value);
Evaluated give(EvaluationContext& context, int64_t value);
Evaluated give(EvaluationContext& context, double value);
Evaluated give(EvaluationContext& context, bson::Decimal128 value);
Evaluated give(EvaluationContext& context, bson::Date value);
Evaluated give(EvaluationContext& context, bson::ObjectId value);
Evaluated give(EvaluationContext& context, std::string_view text);
Evaluated give(EvaluationContext&, const void*) = delete;
// Returns an int32 if the value fits, else an int64.
Evaluated make_int_or_long(EvaluationContext& context, int64_t value);

// Builds an array or a document in its own memory, and finish() copies it into the arena. The
// functions fail with ExceededMemoryLimit (146) if this value, the arena's values and all other
// bytes that count as the arena's (HeldBytes) would exceed the arena's limit, or if this value
// would exceed 2 GiB. They fail with Overflow (15) if the result would be nested deeper than
// kMaxDepth. The functions that add a value also fail as check_interruption_of() does
// (interruption.h).
class ValueOutput {
 public:
  ValueOutput(EvaluationContext& context, bson::Type type);

  // For arrays. Checks in advance whether `elements` more values of `value_bytes` bytes each fit
  // into the limit, so that a large array fails before it is built. Allocates nothing.
  Status expect(uint64_t elements, size_t value_bytes);
  Status push(bson::ValueView value);
  // Like push(), for an element of an existing array. Does not check the depth, because the element
  // cannot be nested too deep.
  Status push_element(bson::ValueView value);
  // For documents. The key must not have a NUL: callers refuse such keys with Location16411.
  Status append(std::string_view key, bson::ValueView value);
  // Like append(), for a field of an existing document. Does not check the depth.
  Status append_field(std::string_view key, bson::ValueView value);

  uint32_t count() const { return count_; }
  Evaluated finish();

 private:
  Status reserve(uint64_t size);
  void put(bson::Type type, std::string_view key, bson::ValueView value);

  EvaluationContext& context_;
  bson::Type type_;
  uint32_t count_ = 0;
  bson::ArrayKey array_key_;
  std::vector<uint8_t> bytes_;
  HeldBytes held_;
};

// Fails with Overflow (15) if the value is nested so deep that no document or array may contain it.
Status check_can_be_nested(bson::ValueView value);

// Returns the elements of the array, as views of its bytes.
std::vector<bson::ValueView> elements_of(bson::ValueView array);

}  // namespace gridmount::query::expressions
