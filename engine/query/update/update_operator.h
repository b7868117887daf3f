// The interface of an update operator, which computes the new value of one field. Internal to
// engine/query. The table of operators is in update_operators.cc, and each family of operators has
// its own file.
//
// Thread-safety: thread-safe. The operators are pure functions, except that $currentDate reads the
// clock.
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
#include "engine/query/collation/collator.h"

namespace gridmount::query {

// An operand that was prepared once for many documents. Each family of operators that prepares
// operands has its own class.
struct PreparedOperand {
  virtual ~PreparedOperand() = default;
};

struct UpdateCall {
  const bson::Value& operand;
  const PreparedOperand* prepared;  // null if the operator has no `prepare`
  // The names on the path to the field. The name of an array's element is its position.
  const std::vector<std::string_view>& names;
  // The document before the update, for messages and for values that are copied from other fields.
  bson::View document;
  bool inserting;                              // the document is the new document of an upsert
  const bson::StringOrder* strings = nullptr;  // the order of strings; null: as bytes

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
  // Makes the first value of `holder` the new value. This avoids a copy of a value that a builder
  // has made.
  static UpdateOutcome set_first_of(bson::Document holder) {
    return {Action::kSet, std::nullopt, std::move(holder)};
  }
  static UpdateOutcome remove() { return {Action::kRemove, std::nullopt, std::nullopt}; }

  // Returns the new value. May be called only for kSet.
  bson::ValueView view() const { return value ? value->view() : (*holder->view().begin()).value; }
};

struct UpdateOperator {
  std::string_view name;
  // Fails for an operand that is invalid for every document.
  Status (*check)(std::string_view path, bson::ValueView operand);
  // Returns the change of the field. If the field is missing, `current` is nullopt, and the outcome
  // kSet creates the field.
  Result<UpdateOutcome> (*apply)(const UpdateCall& call,
                                 const std::optional<bson::ValueView>& current);
  // Prepares an operand that `check` has accepted. Null if the operator has nothing to prepare.
  Result<std::unique_ptr<const PreparedOperand>> (*prepare)(
      std::string_view path, bson::ValueView operand, const SharedCollator& collator) = nullptr;
  // True for operators that never create a field, but fail if no field can be created at the path
  // ($pop, $pull, $pullAll). $unset, for example, changes nothing in this case.
  bool needs_viable_path = false;
};

// Returns the operator, which exists until the process ends, or null if no operator has this name.
// $rename is not in the table, because it changes two paths.
const UpdateOperator* find_update_operator(std::string_view name);

// Returns a text for messages: "{_id: 5}", or "the new document" if the document has no _id.
std::string show_id(bson::View document);
// Returns the error ImmutableField with the server's message, which says that the operator at this
// path would change the _id.
tl::unexpected<Error> altered_id(std::string_view path);
// Returns a text for messages, such as "a: 5".
std::string show_element(std::string_view name, bson::ValueView value);

// --- The operators, by family. They fail with the codes of servers.
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
                                                            bson::ValueView operand,
                                                            const SharedCollator& collator);
Result<std::unique_ptr<const PreparedOperand>> prepare_push_all(std::string_view path,
                                                                bson::ValueView operand,
                                                                const SharedCollator& collator);
Result<UpdateOutcome> apply_push(const UpdateCall&, const std::optional<bson::ValueView>&);

Result<std::unique_ptr<const PreparedOperand>> prepare_add_to_set(std::string_view path,
                                                                  bson::ValueView operand,
                                                                  const SharedCollator& collator);
Result<UpdateOutcome> apply_add_to_set(const UpdateCall&, const std::optional<bson::ValueView>&);

Status check_pop(std::string_view path, bson::ValueView operand);
Result<UpdateOutcome> apply_pop(const UpdateCall&, const std::optional<bson::ValueView>&);
Result<std::unique_ptr<const PreparedOperand>> prepare_pull(std::string_view path,
                                                            bson::ValueView operand,
                                                            const SharedCollator& collator);
Result<std::unique_ptr<const PreparedOperand>> prepare_pull_all(std::string_view path,
                                                                bson::ValueView operand,
                                                                const SharedCollator& collator);
Result<UpdateOutcome> apply_pull(const UpdateCall&, const std::optional<bson::ValueView>&);

}  // namespace gridmount::query
