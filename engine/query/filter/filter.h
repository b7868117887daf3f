// Query filters. A filter is parsed once and matched against many documents. It is a pure function
// of a document (except for $sampleRate and $rand), and does not use stores or indexes.
//
// The tree of conditions is public, because the planner derives key bounds from it. To add an
// operator, add an entry to the table in field_operators.cc, or in document_operators.cc if the
// operator replaces a field name. The function in this entry parses the operand. An unknown
// operator is never ignored: parse() fails with BadValue "unknown operator: $x".
//
// Source: MongoDB manual, "Query and Projection Operators". Arrays and nulls are treated as servers
// treat them.
//
// Thread-safety: a parsed filter is immutable, so thread-safe.
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
#include "engine/query/collation/collator.h"
#include "engine/query/filter/filter_budget.h"

namespace gridmount::query {

struct EvaluationContext;
class TextIndexSpec;
class TextQuery;
class VariableScope;

// The state of a match: its input in addition to the document, and its first error.
struct MatchContext {
  // The variables and the time for $expr. If null, $expr uses those of FilterOptions.
  EvaluationContext* evaluation = nullptr;
  // The first error. If it is set, the match still has a result, but the result is meaningless.
  std::optional<Error> error;

  void fail(Error reason) {
    if (!error) error = std::move(reason);
  }
  // Must be called in each round of a loop over values or conditions. `bytes` is an upper bound of
  // the bytes that the round reads. Returns whether there is an error. Checks the interruption of
  // this thread (interruption.h), which is also an error.
  bool has_ended(size_t bytes);
};

// Returns the path of the part of a text index that has the terms. No field can have it.
const bson::Path& text_path();

// The limit for the memory of one filter, in bytes. An $in list of 16 MB needs no more than twice
// its size, and each condition needs a few hundred bytes.
inline constexpr size_t kFilterBytesMax = kOperationBytesMax;

// A condition on the values at one path. If it is on the whole document, its path is one that no
// field can have.
class Predicate {
 public:
  virtual ~Predicate() = default;
  // `document` is the whole document. path() selects the values in it.
  virtual bool test(bson::View document, MatchContext& context) const = 0;
  // Like test(), but treats an error as no match.
  bool matches(bson::View document) const;
  // See Filter::matched_position(). The document must match the condition.
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
    // Comparisons of an expression ($expr). They compare values of different types too, compare an
    // array as one value, and treat a missing field as less than null.
    kExpressionEqual,
    kExpressionLess,
    kExpressionLessEqual,
    kExpressionGreater,
    kExpressionGreaterEqual,
    kText,
    kOther
  };
  virtual Kind kind() const = 0;
  virtual const bson::Path& path() const = 0;
  // Returns the operand of a comparison, or null for other kinds.
  virtual const bson::Value* operand() const { return nullptr; }
  // Returns the query of a $text, or null for other kinds. The predicate owns it. operands() has
  // its index terms, and path() is text_path().
  virtual const TextQuery* text_query() const { return nullptr; }
  // For $in, returns the different operands that are not regular expressions, in ascending order.
  // For $type, returns the numbers of the types. Returns null for other kinds. The predicate owns
  // the values.
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  // For $in, returns the literal_prefix() of each regular expression among the operands. Returns
  // null for other kinds.
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  // Returns the literal text at the beginning of a regular expression that is anchored with ^.
  // Returns an empty text for other kinds.
  virtual std::string_view literal_prefix() const { return {}; }
  // Returns whether the condition compares strings by a collation, or documents or arrays that may
  // have strings. An index whose strings are in another order has no bounds for it.
  virtual bool is_collated() const { return false; }
  // Returns conditions on single fields that every matching document meets. Only $expr has such
  // conditions, and their kinds are those of expressions. The predicate owns them.
  virtual std::span<const std::unique_ptr<Predicate>> implied() const { return {}; }
};

// The treatment of $text in a filter.
enum class TextSearch {
  kIndexed,       // $text searches the strings of the text index
  kDoneBySource,  // $text matches every document, because the source has done the search
};

struct TextSource {
  // The text index of the collection. Null: $text fails with IndexNotFound (27).
  std::shared_ptr<const TextIndexSpec> index = nullptr;
  TextSearch search = TextSearch::kIndexed;
};

struct FilterOptions {
  // The variables that $expr may use in addition to the built-in ones. Null: only the built-in
  // ones. Only Filter::parse() uses it.
  VariableScope* scope = nullptr;
  // The values of these variables, each at the position of its slot, and the value of $$NOW. A
  // match without an EvaluationContext uses them. They come from a command's `let`, so they are the
  // same for all documents. If `now` is not set, $$NOW is the time of the match, as filters need
  // that are used for a long time (validators).
  std::vector<std::optional<bson::Value>> variables = {};
  std::optional<bson::Date> now = bson::Date::now();
  // If false, a filter with $expr, $jsonSchema or $text is refused with QueryFeatureNotAllowed
  // (224). Array filters, $pull and partial indexes do not allow these operators.
  bool special_operators = true;
  // If true, the filter keeps its specification for explain_failure().
  bool explains_failures = false;
  // True for the filter of an upsert, in which $expr is refused (224), because $expr gives no
  // fields for the new document.
  bool is_upsert = false;
  // The order of strings in comparisons. It does not concern $regex and $jsonSchema. Null: as
  // bytes.
  SharedCollator collator = nullptr;
  TextSource text = {};
};

class Filter {
 public:
  // kNot: matches unless all children match.
  enum class Kind { kAnd, kOr, kNor, kNot, kPredicate };

  // Parses a filter. `specification` need not outlive the call. Fails with MongoDB's codes and
  // messages: mostly with BadValue, FailedToParse or TypeMismatch, with QueryFeatureNotAllowed
  // (224) as FilterOptions says, with IndexNotFound (27) for a $text without a text index, with
  // BadValue for several $text and for one in a $nor, with NoQueryExecutionPlans (291) for $near,
  // and CommandNotSupported (115) for other geospatial operators, with 5729100 for a path that is
  // too long, as Regex::compile() does, and with the errors of a $expr's expression. Fails with
  // ExceededMemoryLimit (146) if the filter exceeds kFilterBytesMax or the FilterBudget of this
  // thread. Checks the interruption of this thread.
  static Result<Filter> parse(bson::View specification, const FilterOptions& options = {});

  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;

  // Returns whether the document matches. Fails if the expression of a $expr fails, if a regular
  // expression takes too many steps (51156), or if the interruption of this thread ends the match.
  //
  // Callers whose variables differ from document to document pass `evaluation`, with the variables,
  // the memory and the time for $expr. Afterwards its root is the same as before, and the values
  // made in its arena have been discarded. The function is thread-safe, unless threads share an
  // `evaluation`.
  Result<bool> evaluate(bson::View document, EvaluationContext* evaluation = nullptr) const;
  // Like evaluate(), but treats an error as no match, for callers that cannot report it.
  bool matches(bson::View document) const;
  // Like evaluate(), but for a filter that is part of a larger one: errors are in `context`.
  bool test(bson::View document, MatchContext& context) const;
  // Explains why `document`, which must not match, does not match. Servers report this as
  // errInfo.details if a document fails validation ("Schema Validation" in MongoDB's manual). The
  // result is
  //   {operatorName: "$jsonSchema", schemaRulesNotSatisfied: [...]} or
  //   {operatorName, specifiedAs, reason, consideredValue},
  // and is nested for $and, $or, $nor and $not. If it would be too large for a document, it has no
  // values, but {truncated: true}. Must be called only on a whole filter, not on a part of one.
  // Returns an empty document if the filter was parsed without explains_failures.
  bson::Document explain_failure(bson::View document) const;
  // Returns the position of the array element because of which `document`, which must match,
  // matches. `$` in updates and projections is this position. If several conditions are on arrays,
  // the position is from the condition that servers test last. If arrays are nested, it is a
  // position in the outermost array. Returns nullopt if no array was searched, or only by a $not,
  // by a $nor, or by an $or of several conditions that are not all equalities or regular
  // expressions on one path.
  std::optional<size_t> matched_position(bson::View document) const;

  // Adds the paths of all conditions. A condition on the whole document ($expr) has a path that no
  // field can have.
  void add_paths(std::set<std::string>& paths) const;

  Kind kind() const { return kind_; }
  const std::vector<Filter>& children() const { return children_; }
  const Predicate& predicate() const { return *predicate_; }  // kPredicate only
  // Returns the query of the filter's $text, or null if it has none, or if its source does the
  // search.
  const TextQuery* text_query() const;

  // Returns the equality conditions of the top-level conjunction. An upsert makes fields from them:
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
  std::unique_ptr<bson::Document> specification_;   // only in a whole filter, for explain_failure()
  std::unique_ptr<FilterReservation> reservation_;  // only in a whole filter that is large
};

// Returns whether the specification of a filter has a $text anywhere. It may be malformed.
bool has_text_search(bson::View specification);

}  // namespace gridmount::query
