#include "engine/bson/json.h"
#include "engine/query/update_operator.h"

namespace gridmount::query {
namespace {

constexpr UpdateOperator kOperators[] = {
    {"$set", accept_any, apply_set},
    {"$unset", accept_any, apply_unset},
    {"$setOnInsert", accept_any, apply_set_on_insert},
    {"$currentDate", check_current_date, apply_current_date},
    {"$inc", check_increment, apply_increment},
    {"$mul", check_multiply, apply_multiply},
    {"$min", accept_any, apply_min},
    {"$max", accept_any, apply_max},
};

}  // namespace

const UpdateOperator* find_update_operator(std::string_view name) {
  for (const UpdateOperator& known : kOperators) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::string show_id(bson::View document) {
  const std::optional<bson::ValueView> id = document.find("_id");
  if (!id) return "the new document";
  return "{_id: " + bson::to_json(*id, bson::JsonForm::kRelaxed) + "}";
}

}  // namespace gridmount::query
