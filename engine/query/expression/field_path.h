// Expressions that are field paths or variables: "$a.b", "$$ROOT", "$$x.y". Internal to
// engine/query. Immutable, so thread-safe.
//
// Source: MongoDB manual, "Field Path" and "Variables in Aggregation Expressions".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/query/expression/evaluation.h"
#include "engine/query/field_path.h"

namespace gridmount::query::expressions {

class FieldPath final : public Expression {
 public:
  enum class Base { kRoot, kVariable, kNow };

  FieldPath(Base base, size_t slot, std::vector<std::string> parts)
      : base_(base), slot_(slot), parts_(std::move(parts)) {}

  Evaluated evaluate(EvaluationContext& context) const override;
  void add_dependencies(std::set<std::string>& paths) const override;

  // Returns the dotted path if this is a field of the root document. Returns nothing for a
  // variable, for the time (`$$NOW`) and for the whole document.
  std::optional<std::string> field() const;
  // Returns whether the value depends on a variable or on the time, but not on the root document.
  bool is_variable() const { return base_ != Base::kRoot; }

 private:
  std::string dotted() const;
  Evaluated base_value(EvaluationContext& context) const;
  // Returns the value at the path parts_[from], parts_[from + 1], ... in a document. If an array is
  // on the path, returns an array of the values that the rest of the path reaches in the array's
  // elements.
  Evaluated reach(EvaluationContext& context, bson::View document, size_t from) const;
  Evaluated reach_elements(EvaluationContext& context, bson::ValueView array, size_t from) const;

  Base base_;
  size_t slot_;
  std::vector<std::string> parts_;
};

}  // namespace gridmount::query::expressions
