// Query filters. A filter is parsed once and matched against many documents. The result of a match
// depends only on the document and on the values of the variables and the time (except for
// $sampleRate and $rand). A filter does not use stores or indexes.
//
// The tree of conditions is public, because the planner derives key bounds from it. To add an
// operator, add an entry to the table in field_operators.cc, or in document_operators.cc if the
// operator replaces a field name. The function in this entry parses the operand. An unknown
// operator is never ignored: parse() fails with BadValue and the message "unknown operator: $x" or
// "unknown top level operator: $x".
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
  // the bytes that the round reads. Checks the interruption of this thread (interruption.h), and
  // calls fail() if it ends the match. Returns whether there is an error.
  bool has_ended(size_t bytes);
};

// Returns the path of a $text. The path stands for the terms of a text index, and no field can have
// this path.
const bson::Path& text_path();

// The limit for the memory of one filter, in bytes. An $in list of 16 MB needs no more than twice
// its size, and each condition needs a few hundred bytes.
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
  // Returns the query of a $text, or null for other kinds. The predicate owns the query. operands()
  // has the query's index terms, and path() is text_path(). Also returns null for a $text that the
  // source has tested (TextSearch::kDoneBySource), which has neither these terms nor this path.
  virtual const TextQuery* text_query() const { return nullptr; }
  // For $in, returns the different operands that are not regular expressions, in ascending order.
  // For $type, returns the numbers of the types. For $text, see text_query(). Returns null for
  // other kinds. The predicate owns the values.
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  // For $in, returns the literal_prefix() of each regular expression among the operands. Returns
  // null for other kinds.
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  // Returns the literal text at the beginning of a regular expression that is anchored with ^.
  // Returns an empty text for other kinds.
  virtual std::string_view literal_prefix() const { return {}; }
  // Returns true if the condition compares strings by a collation, or compares documents or arrays,
  // which may have strings, by a collation. An index that has strings in another order has no
  // bounds for such a condition.
  virtual bool is_collated() const { return false; }
  // Returns conditions on single fields that every matching document meets. Only an $expr has such
  // conditions. Their kinds are those of comparisons of an expression. The predicate owns them.
  virtual std::span<const std::unique_ptr<Predicate>> implied() const { return {}; }
};

// The treatment of $text in a filter.
enum class TextSearch {
  kIndexed,       // $text searches the strings of the text index
  kDoneBySource,  // $text matches every document, because the source has done the search
};

// What the $text of a filter searches.
struct TextSource {
  // The text index of the collection. Null: $text fails with IndexNotFound (27).
  std::shared_ptr<const TextIndexSpec> index = nullptr;
  TextSearch search = TextSearch::kIndexed;
};

struct FilterOptions {
  // The variables that $expr may use in addition to the built-in ones. Null: only the built-in
  // ones. Filter::parse() uses the scope, and the filter does not need it afterwards.
  VariableScope* scope = nullptr;
  // The values of these variables, each at the position of its slot, and the value of $$NOW. A
  // match without an EvaluationContext uses them. They come from a command's `let`, so they are the
  // same for all documents. If `now` is not set, $$NOW is the time of each match. A validator
  // leaves `now` unset, because a collection uses its validator for a long time.
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
  // The order of strings in comparisons. $regex and $jsonSchema do not use this order. Null: as
  // bytes.
  SharedCollator collator = nullptr;
  TextSource text = {};
};

class Filter {
 public:
  // kNot: matches unless all children match.
  enum class Kind { kAnd, kOr, kNor, kNot, kPredicate };

  // Parses a filter. `specification` need not outlive the call. Checks the interruption of this
  // thread. Fails with MongoDB's codes and messages:
  // - BadValue, FailedToParse or TypeMismatch for most mistakes, for example BadValue for several
  //   $text and for a $text within $nor or $not
  // - QueryFeatureNotAllowed (224), as FilterOptions says
  // - IndexNotFound (27) for a $text without a text index
  // - NoQueryExecutionPlans (291) for $near, and CommandNotSupported (115) for other geospatial
  //   operators
  // - 5729100 for a path that is too long
  // - the errors of Regex::compile(), and those of the expression in an $expr
  // - ExceededMemoryLimit (146) if the filter exceeds kFilterBytesMax or the FilterBudget of this
  //   thread
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
  // Explains why `document` does not match. The document must not match. Servers report this as
  // errInfo.details if a document fails validation ("Schema Validation" in MongoDB's manual). The
  // result has one of these forms, nested for $and, $or, $nor and $not:
  // - {operatorName: "$jsonSchema", schemaRulesNotSatisfied: [...]}
  // - {operatorName, specifiedAs, reason, consideredValue}
  // If it would be too large for a document or nested too deep, it has {truncated: true} in place
  // of values, or is only {reason, truncated: true}. Must be called only on a whole filter, not on
  // a part of one. Returns an empty document if the filter was parsed without explains_failures.
  bson::Document explain_failure(bson::View document) const;
  // Returns the position of the array element that makes `document` match. The document must match.
  // `$` in an update is this position. For `$` in a projection, see projected_position()
  // (matched_position.h). If several conditions are on arrays, the condition that servers test last
  // decides. If arrays are nested, the position is one in the outermost array. Returns nullopt if
  // no condition has searched an array. Conditions within a $not or a $nor do not count. Conditions
  // within an $or of several conditions count only if all of them are equalities or regular
  // expressions on one path.
  std::optional<size_t> matched_position(bson::View document) const;

  // Adds the paths of all conditions. A condition on the whole document ($expr) has a path that no
  // field can have.
  void add_paths(std::set<std::string>& paths) const;

  Kind kind() const { return kind_; }
  const std::vector<Filter>& children() const { return children_; }
  const Predicate& predicate() const { return *predicate_; }  // kPredicate only
  // Returns the query of the filter's $text. The filter owns it. Returns null if the filter has no
  // $text, or if the source of the documents does the search (TextSearch::kDoneBySource).
  const TextQuery* text_query() const;

  // Returns the paths and operands of the equality conditions in the top-level conjunction. The
  // operands are valid as long as the filter exists. An upsert makes fields from them: {a: 1,
  // "b.c": {$eq: 2}, $and: [{d: 3}], e: {$gt: 1}} gives a, b.c and d.
  std::vector<std::pair<std::string, bson::ValueView>> equalities() const;

 private:
  Filter(Kind kind, std::vector<Filter> children) : kind_(kind), children_(std::move(children)) {}
  explicit Filter(std::unique_ptr<Predicate> predicate)
      : kind_(Kind::kPredicate), predicate_(std::move(predicate)) {}

  friend class FilterParser;

  Kind kind_;
  std::vector<Filter> children_;
  std::unique_ptr<Predicate> predicate_;
  // What explain_failure() needs.
  struct Source {
    bson::Document specification;
    SharedCollator collator;
  };
  std::unique_ptr<Source> source_;                  // only in a whole filter
  std::unique_ptr<FilterReservation> reservation_;  // only in a whole filter that is large
};

// Returns whether the specification of a filter has a $text, also within $and, $or and $nor. The
// specification may be malformed.
bool has_text_search(bson::View specification);

}  // namespace gridmount::query
