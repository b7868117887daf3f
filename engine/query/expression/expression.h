// Aggregation expressions, such as {$add: ["$price", 1]}. An expression is parsed once, and
// evaluated for many documents. The result depends only on the members of the EvaluationContext:
// the document, the variables, the time, the order of strings and the text score (except for
// $rand).
//
// The result is a view of bytes in the document, in the value of a variable, in the parsed
// expression or in the context's arena, so that {$eq: ["$a", 5]} copies nothing. The result nullopt
// means "missing" (a field that does not exist, $$REMOVE), which differs from null. An object
// expression leaves out a missing field. An array expression replaces a missing element by null.
//
// Source: MongoDB manual, "Aggregation Operators" and "Variables in Aggregation Expressions". Error
// codes are those of servers.
//
// Thread-safety: a parsed expression is immutable, so thread-safe. An Arena, a VariableScope or an
// EvaluationContext must be used by one thread at a time.
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
#include "engine/query/collation/collator.h"

namespace gridmount::query {

namespace expressions {
class ArenaAccess;
}

// The memory for values that an evaluation creates. If these values need more than `bytes_max`
// bytes, the evaluation fails with ExceededMemoryLimit (146), so that no expression ({$range: [0,
// 1e9]}) uses unlimited memory. Not thread-safe.
class Arena {
 public:
  explicit Arena(uint64_t bytes_max = uint64_t{128} << 20) : bytes_max_(bytes_max) {}

  // Copies the value into the arena. The result is valid until clear().
  Result<bson::ValueView> keep(bson::ValueView value);
  // Returns how many bytes keep() can still copy. For operators that build large values step by
  // step.
  uint64_t bytes_left() const { return bytes_max_ - std::min(bytes_max_, bytes_ + held_); }
  // Discards all values, but keeps some blocks for later values. So the evaluation of an expression
  // for many documents need not allocate memory for each document.
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
  uint64_t held_ = 0;  // bytes of unfinished values outside the blocks
  // Blocks before `current_` are full. Blocks after it are kept for later use.
  std::vector<Block> blocks_;
  size_t current_ = 0;
  size_t used_ = 0;  // bytes used in the current block
};

// The variables that an expression may use, while the expression is parsed. Each declared variable
// has a slot. ROOT, CURRENT, NOW and REMOVE are always available. For other system variables of
// servers (CLUSTER_TIME, USER_ROLES, ...) the parser fails with 51144, and for any other name with
// 17276 "Use of undefined variable: x".
class VariableScope {
 public:
  // Declares a variable, and returns its slot. A name must begin with a lower-case or non-ASCII
  // letter, and then have only letters, digits and '_', or be CURRENT. Otherwise fails with
  // FailedToParse (9). A variable hides an earlier one with the same name until undeclare().
  Result<size_t> declare(std::string_view name);
  // Undoes the last declare() that has not been undone.
  void undeclare();
  std::optional<size_t> find(std::string_view name) const;
  // Returns how many slots have ever been assigned. If EvaluationContext::variables has fewer
  // values, the variables of the other slots have no value.
  size_t slots() const { return slots_; }

  // The collation of the command. The parser compares the strings of constants by this collation.
  // Filters and sorts inside of expressions and stages also use this collation. Null: strings are
  // compared as bytes.
  void set_collator(SharedCollator collator) { collator_ = std::move(collator); }
  const SharedCollator& collator() const { return collator_; }

  // Whether the documents have text scores. If not, the parser refuses {$meta: "textScore"}.
  void set_has_text_score(bool has) { has_text_score_ = has; }
  bool has_text_score() const { return has_text_score_; }
  // Whether something in the pipeline may read the text scores.
  void set_reads_text_score(bool reads) { reads_text_score_ = reads; }
  bool reads_text_score() const { return reads_text_score_; }

 private:
  SharedCollator collator_;
  bool has_text_score_ = false;
  bool reads_text_score_ = false;
  std::vector<std::pair<std::string, size_t>> declared_;
  size_t slots_ = 0;
};

struct EvaluationContext {
  // The document for which the expression is evaluated: `$a` is its field a, and $$ROOT is the
  // document.
  bson::View root;
  // The values of the variables; the slot of a variable is the position of its value. Code that
  // declares variables outside of the expression (`let` of a command, of $lookup or $merge) must
  // set their values. $let, $map, $filter and $reduce set the values of the variables that they
  // declare.
  std::vector<std::optional<bson::ValueView>> variables;
  Arena& arena;
  bson::Date now;  // $$NOW, the same for a whole command
  // The order of strings. Null: as bytes. Must be the order with which the expression was parsed.
  const bson::StringOrder* strings = nullptr;
  // The score that a text search gave the root document. {$meta: "textScore"} is this value.
  std::optional<double> text_score = {};
};

class Expression;

// A comparison of a field with a value that does not depend on the document: {$gt: ["$a.b", 5]}.
struct Comparison {
  enum class Kind { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

  Kind kind;
  std::string path;  // the field's dotted path in the root document
  // The value, as an expression that depends only on the variables and the time. The expression
  // whose add_comparisons() has added this Comparison owns the operand.
  const Expression* operand;
};

class Expression {
 public:
  virtual ~Expression() = default;

  // Returns the value, or nullopt for "missing". The view is valid until arena.clear(), but not
  // longer than the root document, the expression and the values of the variables.
  virtual Result<std::optional<bson::ValueView>> evaluate(EvaluationContext& context) const = 0;

  // Returns the value if it is the same in every context, otherwise nullopt.
  virtual std::optional<bson::ValueView> constant() const { return std::nullopt; }
  // Adds the dotted paths that the expression reads in the root document, or "" for the whole
  // document. A pipeline uses the paths to find out which fields it needs, and whether an index has
  // these fields.
  virtual void add_dependencies(std::set<std::string>& paths) const = 0;
  // Adds comparisons that are true for every document for which the expression is true. A search
  // uses them as bounds of an index. Most expressions add none.
  virtual void add_comparisons(std::vector<Comparison>&) const {}
};

// Parses an expression as it occurs in a stage: "$a.b", "$$NOW", {$add: [...]}, {a: "$b", c: 1}, an
// array of expressions, or a constant. `value` need not outlive the call. Evaluates constant parts
// during the parsing. Fails with InvalidPipelineOperator (168) "Unrecognized expression '$x'" for
// an unknown operator, with 15983 for an operator beside other fields, with 16406 for a name that
// an object has twice, with 16020 or 28667 for a wrong number of arguments, as check_field_path()
// does for invalid names, with Overflow (15) for expressions nested deeper than bson::kMaxDepth,
// and with the codes of the operators. Checks the interruption of this thread (interruption.h).
Result<std::unique_ptr<Expression>> parse_expression(bson::ValueView value, VariableScope& scope);

// Returns whether a specification has {$meta: "textScore"} anywhere in it. The specification need
// not be valid.
bool mentions_text_score(bson::View specification);

// Compares two values of any types, as expressions do. A missing value, like undefined, is less
// than every other value except MinKey.
std::weak_ordering compare_expression_values(const std::optional<bson::ValueView>& a,
                                             const std::optional<bson::ValueView>& b,
                                             const bson::StringOrder* strings = nullptr);

// Returns whether the value counts as true. Only false, null, undefined, a zero of any type, and
// missing count as false.
bool is_true(const std::optional<bson::ValueView>& value);

}  // namespace gridmount::query
