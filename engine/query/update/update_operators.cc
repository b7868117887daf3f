#include "engine/bson/text.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {
namespace {

constexpr UpdateOperator kUpdateOperators[] = {
    {"$set", accept_any, apply_set},
    {"$unset", accept_any, apply_unset},
    {"$setOnInsert", accept_any, apply_set_on_insert},
    {"$currentDate", check_current_date, apply_current_date},
    {"$inc", check_increment, apply_increment},
    {"$mul", check_multiply, apply_multiply},
    {"$min", accept_any, apply_min},
    {"$max", accept_any, apply_max},
    {"$bit", check_bit, apply_bit},
    {"$push", accept_any, apply_push, prepare_push},
    {"$pushAll", check_push_all, apply_push, prepare_push_all},
    {"$addToSet", accept_any, apply_add_to_set, prepare_add_to_set},
    {"$pop", check_pop, apply_pop, nullptr, true},
    {"$pull", accept_any, apply_pull, prepare_pull, true},
    {"$pullAll", accept_any, apply_pull, prepare_pull_all, true},
};

}  // namespace

const UpdateOperator* find_update_operator(std::string_view name) {
  for (const UpdateOperator& known : kUpdateOperators) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::string show_id(bson::View document) {
  const std::optional<bson::ValueView> id = document.find("_id");
  if (!id) return "the new document";
  return "{_id: " + bson::to_text(*id) + "}";
}

tl::unexpected<Error> altered_id(std::string_view path) {
  return fail(ErrorCode::kImmutableField, "Performing an update on the path '" + std::string(path) +
                                              "' would modify the immutable field '_id'");
}

std::string show_element(std::string_view name, bson::ValueView value) {
  return std::string(name) + ": " + bson::to_text(value);
}

std::string UpdateCall::path() const {
  std::string dotted;
  for (const std::string_view name : names) {
    if (!dotted.empty()) dotted += '.';
    dotted += name;
  }
  return dotted;
}

}  // namespace gridmount::query
