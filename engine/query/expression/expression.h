// Aggregation expressions: {$add: ["$price", 1]}. Parsed once, evaluated against many documents. A
// pure function of the document, the variables and the time.
// Source: MongoDB manual, "Aggregation Operators" and "Variables in Aggregation Expressions"; error
// codes as the server's.
//
// A result is a view: into the document, into the parsed expression, or into the context's arena.
// So
// {$eq: ["$a", 5]} copies nothing. "Missing" (a field that is not there, $$REMOVE) is nullopt and
// not null; an object or array expression leaves out a missing field and makes a missing element
// null.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

namespace expressions {
class ArenaAccess;
}

// Keeps the values that evaluation makes. Bounded: beyond `bytes_max` ExceededMemoryLimit (146), so
// that no expression ({$range: [0, 1e9]}) takes memory without end. Not thread-safe.
class Arena {
 public:
  explicit Arena(uint64_t bytes_max = uint64_t{128} << 20) : bytes_max_(bytes_max) {}

  // Copies. Views of the result are valid until clear().
  Result<bson::ValueView> keep(bson::ValueView value);
  // What keep() would have room for, for operators that build large values piece by piece.
  uint64_t bytes_left() const { return bytes_max_ - std::min(bytes_max_, bytes_ + held_); }
  // Forgets all, and keeps a block for what comes next: evaluating the same expression for document
  // after document allocates nothing.
  void clear();

 private:
  friend class expressions::ArenaAccess;

  struct Block {
    std::unique_ptr<uint8_t[]> data;
    size_t size = 0;
  };

  Result<uint8_t*> allocate(size_t size);
  Status enter_next_block(size_t size);

  uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  uint64_t held_ = 0;  // by what is made piece by piece, beside the blocks
  // Blocks before `current_` are full, those behind it are kept for later.
  std::vector<Block> blocks_;
  size_t current_ = 0;
  size_t used_ = 0;  // of the current block
};

// The variables that can be named where an expression stands, while it is parsed: each has a slot.
// Beside the user's there are ROOT, CURRENT, NOW, REMOVE and, in $redact-like places, none other; a
// name that is not known is code 17276 "Use of undefined variable: x".
class VariableScope {
 public:
  // Lower-case first letter or non-ASCII, then letters, digits, '_'; FailedToParse (9) otherwise.
  // A later one of the same name hides the earlier until undeclare().
  Result<size_t> declare(std::string_view name);
  // Undoes the latest declare() that is not undone.
  void undeclare();
  std::optional<size_t> find(std::string_view name) const;
  // Slots ever given: the size of EvaluationContext::variables.
  size_t slots() const { return slots_; }

 private:
  std::vector<std::pair<std::string, size_t>> declared_;
  size_t slots_ = 0;
};

struct EvaluationContext {
  // `$a` is a field of it, $$ROOT is it.
  bson::View root;
  // By slot. Whoever declares variables outside of an expression (`let` of a command, of $lookup or
  // $merge) fills theirs; $let, $map, $filter and $reduce fill their own.
  std::vector<std::optional<bson::ValueView>> variables;
  Arena& arena;
  bson::Date now;  // $$NOW: one for a whole command
};

class Expression {
 public:
  virtual ~Expression() = default;

  // Views are valid as long as the root document, the expression, the variables' values and until
  // arena.clear().
  virtual Result<std::optional<bson::ValueView>> evaluate(EvaluationContext& context) const = 0;

  // The value if it is the same whatever the context; then evaluating costs nothing.
  virtual std::optional<bson::ValueView> constant() const { return std::nullopt; }
  // Adds the dotted paths of the root document it reads; "" stands for the whole document. Lets a
  // pipeline tell which fields it needs and whether an index covers them.
  virtual void add_dependencies(std::set<std::string>& paths) const = 0;
};

// `value` is an expression as it stands in a stage: "$a.b", "$$NOW", {$add: [...]}, {a: "$b", c:
// 1}, an array of expressions, or a constant. Copies what it needs. Constant parts are evaluated at
// once. An operator that is not known: code 168 (InvalidPipelineOperator) "Unrecognized expression
// '$x'"; wrong numbers of arguments: 16020; nesting beyond 100: Overflow (15).
Result<std::unique_ptr<Expression>> parse_expression(bson::ValueView value, VariableScope& scope);

// What counts as true: everything but false, null, undefined, zero of any type, and missing.
bool is_true(const std::optional<bson::ValueView>& value);

}  // namespace gridmount::query
