// The interface of an update operator, which computes the new value of one field. Internal to
// engine/query. The table of operators is in update_operators.cc, and each family of operators has
// its own file.
//
// Thread-safety: the operators are pure functions, except for the time that $currentDate reads.
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

// An operand in the form in which an operator applies it, prepared once for many documents. Each
// family that needs it has its own class.
struct PreparedOperand {
  virtual ~PreparedOperand() = default;
};

struct UpdateCall {
  const bson::Value& operand;
  const PreparedOperand* prepared;  // null unless the operator has `prepare`
  // The names on the path to the field. An element's name is its position.
  const std::vector<std::string_view>& names;
  // The document before the update. Used for messages and for values copied from other fields.
  bson::View document;
  bool inserting;  // the document is the new document of an upsert

  // Returns the names joined with dots.
  std::string path() const;
};

struct UpdateOutcome {
  enum class Action { kKeep, kSet, kRemove };
  Action action = Action::kKeep;
  // The new value for kSet. Exactly one of the two is set.
  std::optional<bson::Value> value;
  std::optional<bson::Document> holder;

  static UpdateOutcome keep() { return {}; }
  static UpdateOutcome set(bson::Value value) {
    return {Action::kSet, std::move(value), std::nullopt};
  }
  // The new value is the first value of `holder`. So a value made by a builder is not copied.
  static UpdateOutcome set_first_of(bson::Document holder) {
    return {Action::kSet, std::nullopt, std::move(holder)};
  }
  static UpdateOutcome remove() { return {Action::kRemove, std::nullopt, std::nullopt}; }

  bson::ValueView view() const { return value ? value->view() : (*holder->view().begin()).value; }
};

struct UpdateOperator {
  std::string_view name;
  // Fails for operands that can never be applied.
  Status (*check)(std::string_view path, bson::ValueView operand);
  // `current` is nullopt if the field is missing. If the outcome is then kSet, the field is
  // created.
  Result<UpdateOutcome> (*apply)(const UpdateCall& call,
                                 const std::optional<bson::ValueView>& current);
  // Prepares a checked operand. Null if the operator prepares nothing.
  Result<std::unique_ptr<const PreparedOperand>> (*prepare)(std::string_view path,
                                                            bson::ValueView operand) = nullptr;
  // If true, the update fails on a path where no field could be created, although the operator
  // never creates one.
  bool needs_viable_path = false;
};

// Returns null if there is no operator of that name. $rename has no entry because it concerns two
// paths.
const UpdateOperator* find_update_operator(std::string_view name);

// Returns "{_id: 5}", or "the new document" if the document has no _id. For messages.
std::string show_id(bson::View document);
// Returns ImmutableField with the server's message: the operator at this path would change the _id.
tl::unexpected<Error> altered_id(std::string_view path);
// Returns "a: 5". For messages.
std::string show_element(std::string_view name, bson::ValueView value);

// --- The operators, by family.
Status accept_any(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_set(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_unset(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<UpdateOutcome> apply_set_on_insert(const UpdateCall&, const std::optional<bson::ValueView>&);
Status check_current_date(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_current_date(const UpdateCall&, const std::optional<bson::ValueView>&);
// Sets the target of a $rename. The operand is the path of the source.
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
