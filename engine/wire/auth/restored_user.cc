#include "engine/wire/auth/restored_user.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/bson/text.h"

namespace gridmount::wire {

Result<User> restored_user(bson::View document, std::string_view database) {
  std::optional<User> user = User::from_bson(document);
  if (!user) {
    const std::optional<bson::ValueView> id = document.find("_id");
    return fail(ErrorCode::kBadValue,
                "The document " + (id ? bson::to_text(*id) : "") + " to restore is not a user");
  }
  const std::string id = user->name.id();
  if (!database.empty() && user->name.database != database) {
    return fail(ErrorCode::kBadValue, "The user '" + id +
                                          "' to restore does not belong to the database '" +
                                          std::string(database) + "'");
  }
  const std::optional<bson::ValueView> restrictions = document.find("authenticationRestrictions");
  if (restrictions && restrictions->type() == bson::Type::kArray &&
      !restrictions->as_document().empty()) {
    return fail(ErrorCode::kCommandNotSupported,
                "the user '" + id + "' has authenticationRestrictions, which are not supported");
  }
  for (const Role& role : user->roles) {
    if (is_builtin_role(role)) continue;
    return fail(kRoleNotFound, "Could not find role: " + role.name + "@" + role.database +
                                   " of the user '" + id + "'; only built-in roles are supported");
  }
  return *std::move(user);
}

}  // namespace gridmount::wire
