// One update operator: what becomes of a field's value. Internal to this folder.
// update_operators.cc has the table; the families are in files of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/error.h"

namespace gridmount::query {

struct UpdateCall {
  const std::string& path;
  const bson::Value& operand;
  // Before the update; for messages, and for values taken from elsewhere in it.
  bson::View document;
  bool inserting;  // an upsert's new document
};

struct UpdateOutcome {
  enum class Action { kKeep, kSet, kRemove };
  Action action = Action::kKeep;
  std::optional<bson::Value> value;  // kSet

  static UpdateOutcome set(bson::Value value) { return {Action::kSet, std::move(value)}; }
};

struct UpdateOperator {
  std::string_view name;
  // Refuses operands that can never be applied.
  Status (*check)(std::string_view path, bson::ValueView operand);
  // `current` is nothing if the field is missing; it is then made if the outcome is kSet.
  Result<UpdateOutcome> (*apply)(const UpdateCall& call,
                                 const std::optional<bson::ValueView>& current);
};

// Null if there is none of that name. $rename is not among them, as it concerns two paths.
const UpdateOperator* find_update_operator(std::string_view name);

// "{_id: 5}", for messages; "the new document" if there is no _id.
std::string show_id(bson::View document);

// --- The operators, by family.
Status accept_any(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_set(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_unset(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_set_on_insert(const UpdateCall&, const std::optional<bson::ValueView>&);
Status check_current_date(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_current_date(const UpdateCall&, const std::optional<bson::ValueView>&);
// The target of a $rename; the operand is the source's path.
Result<UpdateOutcome> apply_renamed(const UpdateCall&, const std::optional<bson::ValueView>&);

Status check_increment(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_increment(const UpdateCall&, const std::optional<bson::ValueView>&);
Status check_multiply(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_multiply(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_min(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_max(const UpdateCall&, const std::optional<bson::ValueView>&);

}  // namespace gridmount::query
