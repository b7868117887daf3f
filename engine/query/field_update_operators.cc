// $set, $unset, $setOnInsert, $currentDate, and what $rename puts at its target.
// Source: MongoDB manual, "Field Update Operators".

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/bson/path.h"
#include "engine/query/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

bool wants_timestamp(ValueView operand) {
  if (operand.type() != Type::kDocument) return false;
  const std::optional<ValueView> type = operand.as_document().find("$type");
  return type && type->type() == Type::kString && type->as_string() == "timestamp";
}

Value timestamp_now() {
  const auto seconds = static_cast<uint32_t>(bson::Date::now().milliseconds / 1000);
  bson::Builder builder;
  builder.append("", bson::Timestamp{seconds, 1});
  return Value((*std::move(builder).finish().view().begin()).value);
}

}  // namespace

Status accept_any(std::string_view, ValueView) {
  return {};
}

Result<UpdateOutcome> apply_set(const UpdateCall& call, const std::optional<ValueView>&) {
  return UpdateOutcome::set(call.operand);
}

Result<UpdateOutcome> apply_unset(const UpdateCall&, const std::optional<ValueView>&) {
  return UpdateOutcome{UpdateOutcome::Action::kRemove, std::nullopt};
}

Result<UpdateOutcome> apply_set_on_insert(const UpdateCall& call, const std::optional<ValueView>&) {
  return call.inserting ? UpdateOutcome::set(call.operand) : UpdateOutcome();
}

Status check_current_date(std::string_view path, ValueView operand) {
  if (operand.type() == Type::kBool) return {};
  if (operand.type() == Type::kDocument) {
    const bson::View document = operand.as_document();
    const std::optional<ValueView> type = document.find("$type");
    if (type && std::next(document.begin()) == document.end() && type->type() == Type::kString &&
        (type->as_string() == "date" || type->as_string() == "timestamp")) {
      return {};
    }
    return fail(ErrorCode::kBadValue,
                "The '$type' string field is required to be 'date' or 'timestamp': "
                "{$currentDate: {" +
                    std::string(path) + ": {$type: 'date'}}}");
  }
  return fail(ErrorCode::kBadValue,
              std::string(bson::type_alias(operand.type())) +
                  " is not valid type for $currentDate. Please use a boolean ('true') or a $type "
                  "expression ({$type: 'timestamp/date'}).");
}

Result<UpdateOutcome> apply_current_date(const UpdateCall& call, const std::optional<ValueView>&) {
  return UpdateOutcome::set(wants_timestamp(call.operand) ? timestamp_now()
                                                          : Value(bson::Date::now()));
}

Result<UpdateOutcome> apply_renamed(const UpdateCall& call, const std::optional<ValueView>&) {
  const bson::Path source(call.operand.view().as_string());
  bson::View within = call.document;
  for (size_t i = 0; i < source.parts().size(); ++i) {
    const std::optional<ValueView> value = within.find(source.parts()[i]);
    if (!value) return UpdateOutcome();
    if (i + 1 == source.parts().size()) return UpdateOutcome::set(Value(*value));
    if (value->type() == Type::kArray) {
      return fail(ErrorCode::kBadValue, "The source field cannot be an array element, '" +
                                            source.dotted() + "' has an array field called '" +
                                            source.parts()[i] + "'");
    }
    if (value->type() != Type::kDocument) return UpdateOutcome();
    within = value->as_document();
  }
  return UpdateOutcome();
}

}  // namespace gridmount::query
