// What evaluating operators share: reading operands as the server reads them, and making results.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/element_bytes.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query::expressions {

// Nothing is "missing".
using MaybeValue = std::optional<bson::ValueView>;
using Evaluated = Result<MaybeValue>;

// The arena's inside, for operators that make many values of which few are kept.
class ArenaAccess {
 public:
  struct Mark {
    size_t block;
    size_t used;
    uint64_t bytes;
  };
  static Mark mark(const Arena& arena);
  // Forgets what was made since. Nobody may look at it any more.
  static void rewind(Arena& arena, const Mark& mark);
  static bool made_since(const Arena& arena, const Mark& mark, const uint8_t* data);
  static Result<uint8_t*> allocate(Arena& arena, size_t size);
  // Bytes of its blocks, in use or kept.
  static uint64_t capacity(const Arena& arena);
  static void hold(Arena& arena, uint64_t bytes);
  static void let_go(Arena& arena, uint64_t bytes);
};

// Counts bytes that are kept beside the arena against its limit; rewind() leaves them counted.
class HeldBytes {
 public:
  explicit HeldBytes(Arena& arena) : arena_(arena) {}
  ~HeldBytes() { set(0); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  uint64_t bytes() const { return bytes_; }
  void set(uint64_t bytes) {
    ArenaAccess::let_go(arena_, bytes_);
    ArenaAccess::hold(arena_, bytes);
    bytes_ = bytes;
  }

 private:
  Arena& arena_;
  uint64_t bytes_ = 0;
};

// Grows the context's variables if the caller gave it too few.
inline void set_variable(EvaluationContext& context, size_t slot, const MaybeValue& value) {
  if (slot >= context.variables.size()) context.variables.resize(slot + 1);
  context.variables[slot] = value;
}

// --- Operands.

// "missing", or the type's alias.
std::string_view type_name(const MaybeValue& value);

inline bool is_nullish(const MaybeValue& value) {
  return !value || value->type() == bson::Type::kNull || value->type() == bson::Type::kUndefined;
}
inline bool is_type(const MaybeValue& value, bson::Type type) {
  return value && value->type() == type;
}
inline bool is_number(const MaybeValue& value) {
  return value && value->is_number();
}

// For messages: {a: 1, b: "x"}, shortened if it is long.
std::string show(const MaybeValue& value);

// A whole number that fits 32 bits, of any numeric type.
std::optional<int32_t> whole32(const MaybeValue& value);
// Any number as an int64: cut off towards zero, at the ends of the range beyond it, 0 for NaN.
int64_t cut_to_int64(bson::ValueView number);

// As the operators on strings take what is none: numbers and dates as text, null and missing as "";
// Location16007 for other types. The text is in the value or in the arena.
Result<std::string_view> coerce_to_string(EvaluationContext& context, const MaybeValue& value);
// A date, or the time of a timestamp or of an ObjectId; Location16006 for other types.
Result<bson::Date> coerce_to_date(const MaybeValue& value);
bool is_coercible_to_date(const MaybeValue& value);

// %.16g, NaN, Infinity: as the server writes doubles into strings.
std::string double_to_text(double value);

// --- Results.

MaybeValue null_value();
MaybeValue bool_value(bool value);
inline Evaluated give_null() {
  return null_value();
}
inline Evaluated give_missing() {
  return MaybeValue();
}
inline Evaluated give(bool value) {
  return bool_value(value);
}
Evaluated give(EvaluationContext& context, int32_t value);
Evaluated give(EvaluationContext& context, int64_t value);
Evaluated give(EvaluationContext& context, double value);
Evaluated give(EvaluationContext& context, bson::Decimal128 value);
Evaluated give(EvaluationContext& context, bson::Date value);
Evaluated give(EvaluationContext& context, bson::ObjectId value);
Evaluated give(EvaluationContext& context, std::string_view text);
Evaluated give(EvaluationContext&, const void*) = delete;
// An int32 if it fits.
Evaluated give_int_or_long(EvaluationContext& context, int64_t value);

// Builds an array or a document; the result is in the arena. Refuses what the arena has no room for
// (146), that of the outputs around it being counted, and what would be nested deeper than
// kMaxDepth (15).
class Output {
 public:
  Output(EvaluationContext& context, bson::Type type);

  // For arrays. That so many elements come, of values of so many bytes: refuses at once what would
  // be refused at the end.
  Status expect(uint64_t elements, size_t value_bytes);
  Status push(bson::ValueView value);
  // An element of an array that is there already, which cannot be nested too deep.
  Status push_element(bson::ValueView value);
  // For documents. Location16411-like keys with NUL do not come here: callers have refused them.
  Status append(std::string_view key, bson::ValueView value);
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

// Overflow (15) if a document or an array is so deep that nothing may hold it.
Status check_can_be_nested(bson::ValueView value);

// The elements, for random access.
std::vector<bson::ValueView> elements_of(bson::ValueView array);

}  // namespace gridmount::query::expressions
