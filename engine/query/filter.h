// Query filters: parsed once, matched against many documents. A pure function over BSON views;
// knows nothing of stores or indexes. Source: MongoDB manual, "Query and Projection Operators";
// array and null semantics as the server's.
//
// The expression tree is public because the planner reads bounds off it. A new operator is a new
// kind of Predicate (filter_parse.cc names it, predicate files implement it); an operator that is
// not known is refused with BadValue "unknown operator: $x", never skipped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/bson/value.h"
#include "engine/error.h"

namespace gridmount::query {

// A condition on the value(s) of one path.
class Predicate {
 public:
  virtual ~Predicate() = default;
  // `document` is the whole document, the path the predicate's own.
  virtual bool matches(bson::View document) const = 0;
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
  // The operands of $in, sorted and unique; of $type, the types' numbers; null otherwise.
  virtual const std::vector<bson::Value>* operands() const { return nullptr; }
  // A regular expression anchored with ^ and a literal beginning: that beginning; empty otherwise.
  virtual std::string_view literal_prefix() const { return {}; }
};

class Filter {
 public:
  // kNot: not all of the children match.
  enum class Kind { kAnd, kOr, kNor, kNot, kPredicate };

  // Copies what it needs from `specification`. FailedToParse, BadValue with MongoDB's messages.
  static Result<Filter> parse(bson::View specification);

  Filter(Filter&&) noexcept = default;
  Filter& operator=(Filter&&) noexcept = default;

  bool matches(bson::View document) const;
  // Which element of an array let `document`, which must match, do so: what `$` stands for in
  // updates and projections. Of several conditions on arrays the last one's; in nested arrays the
  // outermost one's. Nothing if no array was searched.
  std::optional<size_t> matched_position(bson::View document) const;

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
};

}  // namespace gridmount::query
