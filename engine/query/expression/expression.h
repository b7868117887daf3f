// Aggregation expressions, {$add: ["$price", 1]}, parsed once and evaluated against many documents.
// An expression is a pure function of the document, the variables and the time (except $rand).
//
// The result is a view into the document, the parsed expression or the context's arena, so that
// {$eq: ["$a", 5]} copies nothing. The result nullopt means "missing" (a field that does not exist,
// $$REMOVE), which differs from null. An object expression leaves out a missing field. An array
// expression replaces a missing element by null.
//
// Source: MongoDB manual, "Aggregation Operators" and "Variables in Aggregation Expressions". Error
// codes are the server's.
//
// Thread-safety: a parsed expression is immutable, so safe to share between threads. An Arena, a
// VariableScope or an EvaluationContext is used by one thread at a time.
#pragma once

#include <algorithm>
#include <compare>
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

// Holds the values that evaluation creates. Fails with ExceededMemoryLimit (146) beyond
// `bytes_max`, so that no expression ({$range: [0, 1e9]}) takes unbounded memory. Not thread-safe.
class Arena {
 public:
  explicit Arena(uint64_t bytes_max = uint64_t{128} << 20) : bytes_max_(bytes_max) {}

  // Copies the value. Views of the result are valid until clear().
  Result<bson::ValueView> keep(bson::ValueView value);
  // Returns how many bytes keep() still has room for, for operators that build large values piece
  // by piece.
  uint64_t bytes_left() const { return bytes_max_ - std::min(bytes_max_, bytes_ + held_); }
  // Discards all values, but keeps some blocks for the next ones. So evaluating the same expression
  // for one document after the other allocates nothing.
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
  uint64_t held_ = 0;  // bytes of values being built piece by piece, outside the blocks
  // Blocks before `current_` are full. Blocks after it are kept for later use.
  std::vector<Block> blocks_;
  size_t current_ = 0;
  size_t used_ = 0;  // bytes used in the current block
};

// The variables that may be used in an expression while it is parsed. Each declared variable has a
// slot. ROOT, CURRENT, NOW and REMOVE are always available. Any other name fails with code 17276
// "Use of undefined variable: x".
class VariableScope {
 public:
  // A name begins with a lower-case or non-ASCII letter, followed by letters, digits and '_'.
  // Otherwise fails with FailedToParse (9). A variable hides an earlier one of the same name until
  // undeclare().
  Result<size_t> declare(std::string_view name);
  // Undoes the latest declare() that has not been undone.
  void undeclare();
  std::optional<size_t> find(std::string_view name) const;
  // Returns the number of slots ever assigned, which is the size that EvaluationContext::variables
  // needs.
  size_t slots() const { return slots_; }

 private:
  std::vector<std::pair<std::string, size_t>> declared_;
  size_t slots_ = 0;
};

struct EvaluationContext {
  // The document that `$a` is a field of, and the value of $$ROOT.
  bson::View root;
  // The values by slot. The owner of variables declared outside an expression (`let` of a command,
  // of $lookup or $merge) sets their values. $let, $map, $filter and $reduce set the values of the
  // variables that they declare.
  std::vector<std::optional<bson::ValueView>> variables;
  Arena& arena;
  bson::Date now;  // $$NOW, the same for a whole command
};

class Expression;

// A comparison of a field with a value that does not depend on the document: {$gt: ["$a.b", 5]}.
struct Comparison {
  enum class Kind { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

  Kind kind;
  std::string path;  // of the field in the root document, dotted
  // Depends on the variables and on the time alone. Belongs to the compared expression.
  const Expression* operand;
};

class Expression {
 public:
  virtual ~Expression() = default;

  // The returned view is valid until arena.clear(), and as long as the root document, the
  // expression and the values of the variables are valid.
  virtual Result<std::optional<bson::ValueView>> evaluate(EvaluationContext& context) const = 0;

  // Returns the value if it is the same in every context. Then evaluation costs nothing.
  virtual std::optional<bson::ValueView> constant() const { return std::nullopt; }
  // Adds the dotted paths of the root document that the expression reads, or "" for the whole
  // document. From these a pipeline knows which fields it needs, and whether an index covers them.
  virtual void add_dependencies(std::set<std::string>& paths) const = 0;
  // Adds comparisons that hold for every document for which the expression is true. From these a
  // search knows the bounds of an index. Adds nothing for most expressions.
  virtual void add_comparisons(std::vector<Comparison>&) const {}
};

// Parses an expression as it occurs in a stage: "$a.b", "$$NOW", {$add: [...]}, {a: "$b", c: 1}, an
// array of expressions, or a constant. Copies what it needs from `value`, and evaluates constant
// parts at once. Fails with InvalidPipelineOperator (168) "Unrecognized expression '$x'" for an
// unknown operator, with 16020 or 28667 for a wrong number of arguments, and with Overflow (15) for
// expressions nested deeper than bson::kMaxDepth.
Result<std::unique_ptr<Expression>> parse_expression(bson::ValueView value, VariableScope& scope);

// Compares two values as expressions do. Values of all types have an order. Like undefined, a
// missing value is less than everything except MinKey.
std::weak_ordering compare_expression_values(const std::optional<bson::ValueView>& a,
                                             const std::optional<bson::ValueView>& b);

// Returns whether the value counts as true: everything does except false, null, undefined, zero of
// any type, and missing.
bool is_true(const std::optional<bson::ValueView>& value);

}  // namespace gridmount::query
