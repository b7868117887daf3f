// The variables of a command, which its expressions use as `$$name`. Source: MongoDB manual, `let`
// of find, update, aggregate and others.
//
// Thread-safety: the functions are pure. Several threads may call the const functions of a
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
// may use the variables before it, but no fields. `collator` is the order of strings. A variable
// without a value ($$REMOVE) becomes undefined. Fails with 4890500 if an expression reads a field,
// with FailedToParse for a name that no variable may have, and with the errors of the expressions.
Result<bson::Document> evaluate_let(bson::View let, bson::Date now,
                                    const SharedCollator& collator = nullptr);

// Returns the value of a variable that evaluate_let() has returned, or nullopt if it is undefined.
// Drivers do not write the type undefined, so it can mean a variable without a value.
std::optional<bson::ValueView> value_of_variable(const bson::Element& variable);

// Variables that are declared for the parser. Their values come from a document {name: value},
// which the options of a store's reads and writes have.
class Variables {
 public:
  // Copies the values. Fails with FailedToParse for a name that no variable may have. The scope and
  // the options have the collator.
  static Result<Variables> declare(bson::View values, SharedCollator collator = nullptr);

  VariableScope& scope() { return scope_; }
  const SharedCollator& collator() const { return scope_.collator(); }
  // Returns the values, each at the position of its slot. They are views of this object's memory,
  // and are still valid if this object is moved.
  std::vector<std::optional<bson::ValueView>> views() const;
  // Returns options for Filter::parse(). This object must exist during Filter::parse(), but need
  // not outlive the filter.
  FilterOptions filter_options(bson::Date now);

 private:
  VariableScope scope_;
  bson::Document values_;  // the values in the order of their slots, from slot 0
};

// Parses a filter that compares strings by `collator`, or as bytes if it is null. Its $expr may use
// `variables`, which is {name: value, ...}, and its $text searches `text`. Fails as
// Variables::declare() and Filter::parse() do.
Result<Filter> parse_filter(bson::View filter, bson::View variables,
                            const SharedCollator& collator = nullptr, TextSource text = {},
                            bool is_upsert = false);

}  // namespace gridmount::query
