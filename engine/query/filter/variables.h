// The variables of a command, which its expressions name as `$$name`.
// Source: MongoDB manual, `let` of find, update, aggregate and others.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// What a command's `let` comes to: {a: 1, b: {$add: ["$$a", 1]}} gives {a: 1, b: 2}. Each may name
// those before it, and none a field. A variable without a value ($$REMOVE) is there as undefined.
Result<bson::Document> evaluate_let(bson::View let, bson::Date now);

// The value of one of those variables: nothing where it is undefined, a type that no driver writes
// and that stands for a variable without a value.
std::optional<bson::ValueView> value_of_variable(const bson::Element& variable);

// Values by name, as the reads and writes of a store take them, declared for parsing.
class Variables {
 public:
  // Copies the values. FailedToParse for names no variable may have.
  static Result<Variables> declare(bson::View values);

  VariableScope& scope() { return scope_; }
  // By slot; views of this object, which may be moved.
  std::vector<std::optional<bson::ValueView>> views() const;
  // To parse filters with; this object need outlive only the parsing.
  FilterOptions filter_options(bson::Date now);

 private:
  VariableScope scope_;
  bson::Document values_;  // in the order of the slots, which are the first
};

// A filter whose $expr may name these variables, given by name with their values.
Result<Filter> parse_filter(bson::View filter, bson::View variables, bool is_upsert = false);

}  // namespace gridmount::query
