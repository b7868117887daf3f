// One update operator: what becomes of a field's value. Internal to this folder.
// update_operators.cc has the table; the families are in files of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// What an operator makes of its operand once, before it meets documents. Each family that needs it
// has its own.
struct PreparedOperand {
  virtual ~PreparedOperand() = default;
};

struct UpdateCall {
  const bson::Value& operand;
  const PreparedOperand* prepared;  // of operators that prepare
  // The names that lead to the field, positions for elements.
  const std::vector<std::string_view>& names;
  // Before the update; for messages, and for values taken from elsewhere in it.
  bson::View document;
  bool inserting;  // an upsert's new document

  // The names, dotted.
  std::string path() const;
};

struct UpdateOutcome {
  enum class Action { kKeep, kSet, kRemove };
  Action action = Action::kKeep;
  // kSet: the one or the other.
  std::optional<bson::Value> value;
  std::optional<bson::Document> holder;

  static UpdateOutcome keep() { return {}; }
  static UpdateOutcome set(bson::Value value) {
    return {Action::kSet, std::move(value), std::nullopt};
  }
  // The document's first value: what a builder made, without another copy.
  static UpdateOutcome set_first_of(bson::Document holder) {
    return {Action::kSet, std::nullopt, std::move(holder)};
  }
  static UpdateOutcome remove() { return {Action::kRemove, std::nullopt, std::nullopt}; }

  bson::ValueView view() const { return value ? value->view() : (*holder->view().begin()).value; }
};

struct UpdateOperator {
  std::string_view name;
  // Refuses operands that can never be applied.
  Status (*check)(std::string_view path, bson::ValueView operand);
  // `current` is nothing if the field is missing; it is then made if the outcome is kSet.
  Result<UpdateOutcome> (*apply)(const UpdateCall& call,
                                 const std::optional<bson::ValueView>& current);
  // For a checked operand; null if the operator needs nothing prepared.
  Result<std::unique_ptr<const PreparedOperand>> (*prepare)(std::string_view path,
                                                            bson::ValueView operand) = nullptr;
  // Never makes a field, but is refused where none could be made.
  bool needs_viable_path = false;
};

// Null if there is none of that name. $rename is not among them, as it concerns two paths.
const UpdateOperator* find_update_operator(std::string_view name);

// "{_id: 5}", for messages; "the new document" if there is no _id.
std::string show_id(bson::View document);
// ImmutableField, in the server's words: the operator at this path would change the _id.
tl::unexpected<Error> altered_id(std::string_view path);
// "a: 5", for messages.
std::string show_element(std::string_view name, bson::ValueView value);

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
Status check_bit(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_bit(const UpdateCall&, const std::optional<bson::ValueView>&);

Status check_push_all(std::string_view path, bson::ValueView operand);
Result<std::unique_ptr<const PreparedOperand>> prepare_push(std::string_view path,
                                                            bson::ValueView operand);
Result<std::unique_ptr<const PreparedOperand>> prepare_push_all(std::string_view path,
                                                                bson::ValueView operand);
Result<UpdateOutcome> apply_push(const UpdateCall&, const std::optional<bson::ValueView>&);

Result<std::unique_ptr<const PreparedOperand>> prepare_add_to_set(std::string_view path,
                                                                  bson::ValueView operand);
Result<UpdateOutcome> apply_add_to_set(const UpdateCall&, const std::optional<bson::ValueView>&);

Status check_pop(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_pop(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<std::unique_ptr<const PreparedOperand>> prepare_pull(std::string_view path,
                                                            bson::ValueView operand);
Result<std::unique_ptr<const PreparedOperand>> prepare_pull_all(std::string_view path,
                                                                bson::ValueView operand);
Result<UpdateOutcome> apply_pull(const UpdateCall&, const std::optional<bson::ValueView>&);

}  // namespace gridmount::query
