#include "tools/gridstore/dump/restored_users.h"

#include <string>
#include <utility>

#include "engine/bson/json.h"
#include "engine/wire/auth/restored_user.h"

namespace gridmount::tools {

namespace {

constexpr std::string_view kUsers = "system.users";
constexpr std::string_view kRoles = "system.roles";
constexpr std::string_view kVersion = "system.version";
constexpr size_t kUsersBytesMax = 64 * 1024 * 1024;
// The user documents of this version have the current form or a subset of it.
constexpr int64_t kOldestSchemaVersion = 3;

std::string shown_id(bson::View document) {
  const std::optional<bson::ValueView> id = document.find("_id");
  return id ? bson::to_json(*id, bson::JsonForm::kRelaxed) : std::string("without _id");
}

}  // namespace

bool RestoredUsers::are_in(const engine::Namespace& ns) {
  return ns.database == "admin" &&
         (ns.collection == kUsers || ns.collection == kRoles || ns.collection == kVersion);
}

Status RestoredUsers::add(const engine::Namespace& ns, bson::View document) {
  if (ns.collection == kRoles) {
    return fail(ErrorCode::kCommandNotSupported,
                "only built-in roles are supported: " + shown_id(document) + " cannot be restored");
  }
  if (ns.collection == kVersion) {
    const std::optional<bson::ValueView> id = document.find("_id");
    const std::optional<bson::ValueView> version = document.find("currentVersion");
    const bool is_schema =
        id && id->type() == bson::Type::kString && id->as_string() == "authSchema";
    if (is_schema && version) schema_version_ = version->integral();
    return {};
  }
  if (bytes_ + document.size() > kUsersBytesMax) {
    return fail(ErrorCode::kBsonObjectTooLarge,
                "the users of the dump have more than " + std::to_string(kUsersBytesMax) +
                    " bytes: " + shown_id(document) + " is not restored");
  }
  GM_ASSIGN(wire::User user, wire::restored_user(document, ""));
  users_.push_back(std::move(user));
  bytes_ += document.size();
  return {};
}

Result<size_t> RestoredUsers::merge(bool drops_others) {
  if (users_.empty()) return 0;
  const int64_t version = schema_version_.value_or(wire::kUserSchemaVersion);
  if (version != kOldestSchemaVersion && version != wire::kUserSchemaVersion) {
    return fail(ErrorCode::kUnsupportedFormat, "the users of the dump have the form of version " +
                                                   std::to_string(version) +
                                                   " (authSchema), which cannot be restored");
  }
  GM_TRY(directory_.merge(users_, std::nullopt, drops_others));
  return users_.size();
}

}  // namespace gridmount::tools
