// Query filters, parsed once and matched against many documents. A filter is a pure function over
// BSON views (except for $sampleRate and $rand), and knows nothing of stores or indexes.
//
// The expression tree is public because the planner derives key bounds from it. A new operator gets
// an entry in the table of field_operators.cc, or of document_operators.cc if it stands in place of
// a field name. The function in that entry parses its operand. An unknown operator fails with
// BadValue "unknown operator: $x" and is never skipped.
//
// Source: MongoDB manual, "Query and Projection Operators". The semantics of arrays and nulls are
// the server's.
//
// Thread-safety: a parsed filter is immutable, so safe to share between threads.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"
#include "engine/query/filter/filter_budget.h"

namespace gridmount::query {

struct EvaluationContext;
class VariableScope;

// The input that matching needs besides the document, and the first error that it met.
struct MatchContext {
  // The variables and the time that $expr uses. If null, $expr uses those of the filter.
  EvaluationContext* evaluation = nullptr;
  // The first error. If it is set, matching still returns a result, but the result is meaningless.
  std::optional<Error> error;

  void fail(Error reason) {
    if (!error) error = std::move(reason);
  }
  // Must be called in each round of a loop over values or conditions. `bytes` is the most that the
  // round reads. Returns whether there is an error. An interruption of this thread (interruption.h)
  // counts as an error.
  bool has_ended(size_t bytes);
};

// The limit of memory for one filter. An $in list of 16 MB takes at most twice its size, and each
// condition takes a few hundred bytes.
inline constexpr size_t kFilterBytesMax = kOperationBytesMax;

// A condition on the values at one path. A condition on the whole document has a path that no field
// can have.
class Predicate {
 public:
  virtual ~Predicate() = default;
  // `document` is the whole document. path() selects the values in it.
  virtual bool test(bson::View document, MatchContext& context) const = 0;
  // Like test(), but treats an error as no match.
  bool matches(bson::View document) const;
  // See Filter::matched_position(). The document must match.
  virtual std::optional<size_t> matched_position(bson::View) const { return std::nullopt; }

  enum class Kind {
    kEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kIn,
    kExists,
    kRegex,
    kType,
    // Comparisons of an expression ($expr), which compare values of all types with each other,
    // compare arrays as a whole, and treat a missing field as less than null.
    kExpressionEqual,
    kExpressionLess,
    kExpressionLessEqual,
    kExpressionGreater,
    kExpressionGreaterEqual,
    kOther
  };
  virtual Kind kind() const = 0;
  virtual const bson::Path& path() const = 0;
  // Returns the operand of a comparison, or null for other kinds.
  virtual const bson::Value* operand() const { return nullptr; }
  // For $in: the operands without regular expressions, sorted and unique. For $type: the numbers of
  // the types. Null for other kinds. The values belong to the predicate.
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  // For $in: the literal_prefix() of each regular expression among the operands. Null for other
  // kinds.
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  // Returns the literal text at the beginning of a regular expression that is anchored with ^.
  // Returns an empty text for other kinds.
  virtual std::string_view literal_prefix() const { return {}; }
  // Returns conditions on single fields that hold for every document that matches. Only $expr has
  // any, and they are of the kinds of an expression. They belong to the predicate.
  virtual std::span<const std::unique_ptr<Predicate>> implied() const { return {}; }
};

struct FilterOptions {
  // The variables that $expr may use in addition to the built-in ones. Null if there are none. Used
  // only by Filter::parse().
  VariableScope* scope = nullptr;
  // The values of these variables, by slot, and $$NOW. A match without an EvaluationContext uses
  // them. They come from a command's `let`, so they are the same for all documents. Without `now`,
  // $$NOW is the time of matching, which suits filters that are kept (validators).
  std::vector<std::optional<bson::Value>> variables = {};
  std::optional<bson::Date> now = bson::Date::now();
  // If false, $expr, $jsonSchema and $text fail with QueryFeatureNotAllowed (224). Array filters,
  // $pull and partial indexes do not allow them.
  bool special_operators = true;
  // If true, the filter keeps its specification for explain_failure().
  bool explains_failures = false;
  // True if the filter is that of an upsert. Such a filter may not have $expr (224), because $expr
  // sets no fields of the new document.
  bool is_upsert = false;
};

class Filter {
 public:
  // kNot: the children do not all match.
  enum class Kind { kAnd, kOr, kNor, kNot, kPredicate };

  // Copies what it needs from `specification`. Fails with FailedToParse or BadValue and MongoDB's
  // messages, and with ExceededMemoryLimit (146) if the filter exceeds kFilterBytesMax or the
  // FilterBudget of this thread. Checks the interruption of this thread.
  static Result<Filter> parse(bson::View specification, const FilterOptions& options = {});

  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;

  // Returns whether the document matches. Fails if an expression in $expr fails, if a regular
  // expression takes too many steps (51156), or if the interruption of this thread ends the match.
  //
  // `evaluation` holds the variables, memory and time for $expr, for callers whose variables change
  // from document to document. Its root is restored, and values made in its arena are discarded.
  // The function is thread-safe unless threads share an `evaluation`.
  Result<bool> evaluate(bson::View document, EvaluationContext* evaluation = nullptr) const;
  // Like evaluate(), but treats an error as no match, for callers that cannot report it.
  bool matches(bson::View document) const;
  // Like evaluate(), for a filter that is part of a larger one.
  bool test(bson::View document, MatchContext& context) const;
  // Explains why `document` does not match. Requires that it does not match. Servers report this as
  // errInfo.details if a document fails validation ("Schema Validation" in MongoDB's manual). The
  // result is
  //   {operatorName: "$jsonSchema", schemaRulesNotSatisfied: [...]} or
  //   {operatorName, specifiedAs, reason, consideredValue},
  // and is nested for $and, $or, $nor and $not. If this would not fit into a document, the values
  // are left out and {truncated: true} is added. Only for whole filters. Returns an empty document
  // if the filter was parsed without explains_failures.
  bson::Document explain_failure(bson::View document) const;
  // Returns the position of the array element by which `document` matches. Requires that it
  // matches. `$` in updates and projections is this position. If several conditions are on arrays,
  // the one that servers test last counts. In nested arrays the outermost array counts. Returns
  // nullopt if no array was searched, or if the array was searched by an $or on several paths.
  std::optional<size_t> matched_position(bson::View document) const;

  // Adds the paths that the conditions are on. A condition on the whole document ($expr) has a path
  // that no field can have.
  void add_paths(std::set<std::string>& paths) const;

  Kind kind() const { return kind_; }
  const std::vector<Filter>& children() const { return children_; }
  const Predicate& predicate() const { return *predicate_; }  // kPredicate only

  // Returns the equality conditions of the top-level conjunction, which an upsert turns into
  // fields: {a: 1, "b.c": {$eq: 2}, $and: [{d: 3}], e: {$gt: 1}} gives a, b.c and d.
  std::vector<std::pair<std::string, bson::ValueView>> equalities() const;

 private:
  Filter(Kind kind, std::vector<Filter> children) : kind_(kind), children_(std::move(children)) {}
  explicit Filter(std::unique_ptr<Predicate> predicate)
      : kind_(Kind::kPredicate), predicate_(std::move(predicate)) {}

  friend class FilterParser;

  Kind kind_;
  std::vector<Filter> children_;
  std::unique_ptr<Predicate> predicate_;
  std::unique_ptr<bson::Document> specification_;   // only in a whole filter, for explain_failure()
  std::unique_ptr<FilterReservation> reservation_;  // only in a whole filter that is large
};

}  // namespace gridmount::query
