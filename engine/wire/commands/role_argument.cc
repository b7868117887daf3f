#include "engine/wire/commands/role_argument.h"

#include <string_view>

#include "engine/wire/arguments.h"

namespace gridmount::wire {

Result<Role> role_name_of(bson::ValueView value, const std::string& database) {
  Role role{{}, database};
  if (value.type() == bson::Type::kString) {
    role.name = value.as_string();
  } else if (value.type() == bson::Type::kDocument) {
    GM_ASSIGN(Arguments fields, Arguments::of("roles", value.as_document()));
    GM_ASSIGN(const std::string_view name, fields.required_string("role"));
    GM_ASSIGN(const std::string_view of, fields.required_string("db"));
    GM_TRY(fields.finish());
    role = {std::string(name), std::string(of)};
  } else {
    return fail(ErrorCode::kBadValue, "Role names must be either strings or objects");
  }
  return role;
}

}  // namespace gridmount::wire
