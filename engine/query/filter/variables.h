// The variables of a command, which its expressions use as `$$name`. Source: MongoDB manual, `let`
// of find, update, aggregate and others.
//
// Thread-safety: the functions are pure. Variables may be read by several threads.
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
// may use the variables before it, but no fields. A variable without a value ($$REMOVE) becomes
// undefined.
Result<bson::Document> evaluate_let(bson::View let, bson::Date now);

// Returns the value of such a variable, or nullopt if it is undefined. Drivers do not write the
// type undefined, so here it marks a variable without a value.
std::optional<bson::ValueView> value_of_variable(const bson::Element& variable);

// Variables with values by name, as a store's reads and writes take them, declared for parsing.
class Variables {
 public:
  // Copies the values. Fails with FailedToParse for names that no variable may have.
  static Result<Variables> declare(bson::View values);

  VariableScope& scope() { return scope_; }
  // Returns the values by slot, as views of this object. Moving the object does not invalidate
  // them.
  std::vector<std::optional<bson::ValueView>> views() const;
  // Returns options for Filter::parse(). This object need only outlive parsing.
  FilterOptions filter_options(bson::Date now);

 private:
  VariableScope scope_;
  bson::Document values_;  // in the order of the slots, beginning with slot 0
};

// Parses a filter whose $expr may use these variables. `variables` holds their values by name.
Result<Filter> parse_filter(bson::View filter, bson::View variables, bool is_upsert = false);

}  // namespace gridmount::query
