#include "engine/wire/commands/write_privileges.h"

#include <string>

namespace gridmount::wire {

bool is_requested(bson::View body, std::string_view name) {
  const std::optional<bson::ValueView> value = body.find(name);
  if (!value) return false;
  if (value->type() == bson::Type::kBool) return value->as_bool();
  return value->is_number() && value->number().value_or(1) != 0;
}

std::vector<Privilege> write_privileges(const Request& request,
                                        const std::vector<std::string_view>& actions) {
  const bson::ValueView name = (*request.body.begin()).value;
  const std::string collection =
      name.type() == bson::Type::kString ? std::string(name.as_string()) : std::string();
  std::vector<Privilege> privileges;
  const auto add = [&](std::string_view action) {
    privileges.push_back(
        {Privilege::Resource::kCollection, action, std::string(request.database), collection});
  };
  for (const std::string_view action : actions) add(action);
  if (is_requested(request.body, "bypassDocumentValidation")) add("bypassDocumentValidation");
  return privileges;
}

}  // namespace gridmount::wire
