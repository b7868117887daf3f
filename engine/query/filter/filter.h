// Query filters: parsed once, matched against many documents. A pure function over BSON views (but
// for $sampleRate and $rand); knows nothing of stores or indexes. Source: MongoDB manual, "Query
// and Projection Operators"; array and null semantics as the server's.
//
// The expression tree is public because the planner reads bounds off it. A new operator is a new
// kind of Predicate (filter_parse.cc names it, predicate files implement it); an operator that is
// not known is refused with BadValue "unknown operator: $x", never skipped.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/bson/value.h"
#include "engine/query/filter/filter_budget.h"

namespace gridmount::query {

struct EvaluationContext;
class VariableScope;

// What matching a document needs beside it, and what went wrong meanwhile.
struct MatchContext {
  EvaluationContext* evaluation = nullptr;  // for $expr; null: what the filter was parsed with
  // The first error. Matching goes on to some result, which then means nothing.
  std::optional<Error> error;

  void fail(Error reason) {
    if (!error) error = std::move(reason);
  }
  // To be asked in each round of a loop over values or conditions, which looks at so many bytes at
  // most: whether there was an error, or the interruption has now made one (interruption.h).
  bool has_ended(size_t bytes);
};

// Memory that one filter may take: a list of 16 MB for $in takes twice its bytes at most, each
// condition some hundreds.
inline constexpr size_t kFilterBytesMax = kOperationBytesMax;

// A condition on the value(s) of one path; or on the document itself, which has a path that no
// field can have.
class Predicate {
 public:
  virtual ~Predicate() = default;
  // `document` is the whole document, the path the predicate's own.
  virtual bool test(bson::View document, MatchContext& context) const = 0;
  // The same where an error is no match.
  bool matches(bson::View document) const;
  // As Filter::matched_position(), for a document that matches.
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
    kOther
  };
  virtual Kind kind() const = 0;
  virtual const bson::Path& path() const = 0;
  // The operand of comparisons, null if the kind has none.
  virtual const bson::Value* operand() const { return nullptr; }
  // The operands of $in, sorted and unique, but regular expressions; of $type, the types' numbers;
  // null otherwise. The values are the predicate's own.
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  // Of each regular expression among the operands of $in what literal_prefix() is of one; null
  // otherwise.
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  // A regular expression anchored with ^ and a literal beginning: that beginning; empty otherwise.
  virtual std::string_view literal_prefix() const { return {}; }
};

struct FilterOptions {
  // The variables that $expr may name beside the built-in ones; null for none. Only used to parse.
  VariableScope* scope = nullptr;
  // Their values, by slot, and $$NOW, for a filter that is matched without a context of its own:
  // those of a command's `let`, which stay the same for all documents. Without `now` it is the time
  // of matching, for filters that stay (validators).
  std::vector<std::optional<bson::Value>> variables = {};
  std::optional<bson::Date> now = bson::Date::now();
  // Whether $expr, $jsonSchema and $text are allowed; else QueryFeatureNotAllowed (224). Array
  // filters, $pull and partial indexes do not have them.
  bool special_operators = true;
  // Keeps the specification, for explain_failure().
  bool explains_failures = false;
  // The filter of an upsert, which has no $expr (224) because no fields can be taken from it.
  bool is_upsert = false;
};

class Filter {
 public:
  // kNot: not all of the children match.
  enum class Kind { kAnd, kOr, kNor, kNot, kPredicate };

  // Copies what it needs from `specification`. FailedToParse, BadValue with MongoDB's messages;
  // ExceededMemoryLimit (146) beyond kFilterBytesMax, and beyond the FilterBudget of this thread.
  // Asks the interruption meanwhile.
  static Result<Filter> parse(bson::View specification, const FilterOptions& options = {});

  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;

  // Whether the document matches, or the error of an expression in $expr or of a regular expression
  // that takes too many steps (51156). Thread-safe without `evaluation`, which holds the
  // variables, memory and time for $expr, for those who change them from document to document; its
  // root is put back, and what the expression made in its arena is forgotten.
  Result<bool> evaluate(bson::View document, EvaluationContext* evaluation = nullptr) const;
  // The same where an error is no match: for who cannot report it.
  bool matches(bson::View document) const;
  // As a part of a larger filter.
  bool test(bson::View document, MatchContext& context) const;
  // Why `document`, which must not match, does not: what servers report as errInfo.details when a
  // document fails validation ("Schema Validation" in MongoDB's manual). It is
  //   {operatorName: "$jsonSchema", schemaRulesNotSatisfied: [...]} or
  //   {operatorName, specifiedAs, reason, consideredValue},
  // nested for $and, $or, $nor and $not. Where that would not fit into a document, it leaves out
  // the values and says {truncated: true}. Not for filters inside of others; empty if options did
  // not ask for it (explains_failures).
  bson::Document explain_failure(bson::View document) const;
  // Which element of an array let `document`, which must match, do so: what `$` stands for in
  // updates and projections. Of several conditions on arrays the one that servers test last; in
  // nested arrays the outermost one. Nothing if no array was searched, or by $or on several paths.
  std::optional<size_t> matched_position(bson::View document) const;

  // The paths its conditions look at. One on the whole document ($expr) has a path no field can
  // have.
  void add_paths(std::set<std::string>& paths) const;

  Kind kind() const { return kind_; }
  const std::vector<Filter>& children() const { return children_; }
  const Predicate& predicate() const { return *predicate_; }  // kPredicate only

  // The equality conditions of the top-level conjunction, which an upsert turns into fields:
  // {a: 1, "b.c": {$eq: 2}, $and: [{d: 3}], e: {$gt: 1}} gives a, b.c and d.
  std::vector<std::pair<std::string, bson::ValueView>> equalities() const;

 private:
  Filter(Kind kind, std::vector<Filter> children) : kind_(kind), children_(std::move(children)) {}
  explicit Filter(std::unique_ptr<Predicate> predicate)
      : kind_(Kind::kPredicate), predicate_(std::move(predicate)) {}

  friend class FilterParser;

  Kind kind_;
  std::vector<Filter> children_;
  std::unique_ptr<Predicate> predicate_;
  std::unique_ptr<bson::Document> specification_;   // of the whole filter, for explain_failure()
  std::unique_ptr<FilterReservation> reservation_;  // of the whole filter, if it is a large one
};

}  // namespace gridmount::query
