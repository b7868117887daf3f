// The variables of a command, which its expressions use as `$$name`. Source: MongoDB manual, `let`
// of find, update, aggregate and others.
//
// Thread-safety: the functions have no state. Several threads may call the const functions of a
// Variables.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// Evaluates a command's `let`: {a: 1, b: {$add: ["$$a", 1]}} becomes {a: 1, b: 2}. Each expression
// may use the variables before it, but no fields. `now` is the value of $$NOW, and `collator` is
// the order of strings (null: as bytes). A variable without a value ($$REMOVE) gets a value of the
// type undefined. Fails with 4890500 if an expression reads a field, with FailedToParse for a name
// that no variable may have, and with the errors of the expressions.
Result<bson::Document> evaluate_let(bson::View let, bson::Date now,
                                    const SharedCollator& collator = nullptr);

// Returns the value of a variable, which is a field of a document from evaluate_let(). The result
// is a view of that document. Returns nullopt if the value is undefined. Drivers do not write the
// type undefined, so it can mean a variable without a value.
std::optional<bson::ValueView> value_of_variable(const bson::Element& variable);

// The variables of a command, in the form that parsers need. The options of a store's reads and
// writes have them as a document {name: value, ...}.
class Variables {
 public:
  // Declares each field of `values` as a variable. Copies the values. scope() and filter_options()
  // have the collator. Fails with FailedToParse for a name that no variable may have.
  static Result<Variables> declare(bson::View values, SharedCollator collator = nullptr);

  VariableScope& scope() { return scope_; }
  const SharedCollator& collator() const { return scope_.collator(); }
  // Returns the values, each at the position of its slot. They are views of this object's memory,
  // and are still valid if this object is moved.
  std::vector<std::optional<bson::ValueView>> views() const;
  // Returns options for Filter::parse(), with `now` as the value of $$NOW. The options refer to
  // this object, so this object must exist, and must not be moved, until Filter::parse() returns.
  // The filter does not need this object afterwards.
  FilterOptions filter_options(bson::Date now);

 private:
  VariableScope scope_;
  bson::Document values_;  // the values in the order of their slots, from slot 0
};

// Parses a filter that compares strings by `collator` (null: as bytes). $expr in the filter may use
// `variables`, which has the form {name: value, ...}, and $text searches `text`. $$NOW is the time
// of this call. `is_upsert` means what it means in FilterOptions. Fails as Variables::declare() and
// Filter::parse() do.
Result<Filter> parse_filter(bson::View filter, bson::View variables,
                            const SharedCollator& collator = nullptr, TextSource text = {},
                            bool is_upsert = false);

}  // namespace gridmount::query
