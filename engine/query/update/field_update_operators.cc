// $set, $unset, $setOnInsert, $currentDate, and the target of $rename. Source: MongoDB manual,
// "Field Update Operators".

#include "engine/bson/builder.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/json.h"
#include "engine/query/current_timestamp.h"
#include "engine/query/update/update_operator.h"

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

Value value_of(bson::Timestamp timestamp) {
  bson::Builder builder;
  builder.append("", timestamp);
  const bson::Document document = std::move(builder).finish();
  return Value((*document.view().begin()).value);
}

bool is_number(std::string_view part) {
  return part.find_first_not_of("0123456789") == std::string_view::npos;
}

// The value at a path, and what find_field() has met on the path. The path enters documents by
// name, and arrays by position.
struct FieldPosition {
  std::optional<ValueView> value;
  // The name of the last array entered, if any, and the name of a value that cannot be entered.
  std::optional<std::string> array;
  std::optional<std::string> unviable;
};

FieldPosition find_field(bson::View document, const std::vector<std::string>& parts) {
  FieldPosition place;
  place.value = ValueView(Type::kDocument, document.data(), document.size());
  for (size_t i = 0; i < parts.size() && place.value; ++i) {
    const bool array = place.value->type() == Type::kArray;
    if ((array && !is_number(parts[i])) || (!array && place.value->type() != Type::kDocument)) {
      place.unviable = parts[i - 1];
    }
    if (array) place.array = parts[i - 1];
    if (place.unviable) {
      place.value.reset();
    } else {
      place.value = place.value->as_document().find(parts[i]);
    }
  }
  return place;
}

tl::unexpected<Error> refuse_array(std::string_view which, const std::string& path,
                                   const UpdateCall& call, const std::string& array) {
  return fail(ErrorCode::kBadValue, "The " + std::string(which) +
                                        " field cannot be an array element, '" + path +
                                        "' in doc with " + show_id(call.document) +
                                        " has an array field called '" + array + "'");
}

}  // namespace

Status accept_any(std::string_view, ValueView) {
  return {};
}

Result<UpdateOutcome> apply_set(const UpdateCall& call, const std::optional<ValueView>&) {
  return UpdateOutcome::set(call.operand);
}

Result<UpdateOutcome> apply_unset(const UpdateCall&, const std::optional<ValueView>&) {
  return UpdateOutcome::remove();
}

Result<UpdateOutcome> apply_set_on_insert(const UpdateCall& call, const std::optional<ValueView>&) {
  return call.inserting ? UpdateOutcome::set(call.operand) : UpdateOutcome::keep();
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
  return UpdateOutcome::set(wants_timestamp(call.operand) ? value_of(current_timestamp())
                                                          : Value(bson::Date::now()));
}

Result<UpdateOutcome> apply_renamed(const UpdateCall& call, const std::optional<ValueView>&) {
  const bson::Path source(call.operand.view().as_string());
  const FieldPosition from = find_field(call.document, source.parts());
  if (from.unviable) {
    return fail(ErrorCode::kPathNotViable, "Cannot rename '" + source.dotted() + "' in doc with " +
                                               show_id(call.document) + ": '" + *from.unviable +
                                               "' has no fields of that name");
  }
  if (!from.value) return UpdateOutcome::keep();
  if (from.array) return refuse_array("source", source.dotted(), call, *from.array);
  const std::string target = call.path();
  const FieldPosition to = find_field(call.document, bson::Path(target).parts());
  if (to.array) return refuse_array("destination", target, call, *to.array);
  // The _id is refused even if its value stays the same.
  const std::optional<ValueView> id = call.document.find("_id");
  const bool in_id = call.names.size() == 1 || (id && id->type() == Type::kDocument);
  if (call.names.front() == "_id" && id && in_id) return altered_id(target);
  return UpdateOutcome::set(Value(*from.value));
}

}  // namespace gridmount::query
