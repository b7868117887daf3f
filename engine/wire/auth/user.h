// Users, as documents of admin.system.users: {_id: "db.name", user, db, credentials:
// {"SCRAM-SHA-1":
// {...}, "SCRAM-SHA-256": {...}}, roles: [{role, db}], customData}.
// Source: MongoDB manual, "system.users Collection".
//
// Thread-safety: values; UserDirectory is thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "engine/wire/auth/role.h"
#include "engine/wire/auth/scram.h"

namespace gridmount::wire {

struct UserName {
  std::string name;
  std::string database;
  std::string id() const { return database + "." + name; }
  friend auto operator<=>(const UserName&, const UserName&) = default;
};

struct User {
  UserName name;
  std::map<ScramMechanism, ScramCredentials> credentials;
  bool is_external = false;  // of $external: by a client certificate
  std::vector<Role> roles;
  bson::Document custom_data;

  bson::Document to_bson() const;
  // Nothing for a document that is no user.
  static std::optional<User> from_bson(bson::View document);
};

// The form of these documents, as servers count them; mongorestore compares it with a dump's, which
// has it from admin.system.version.
inline constexpr int32_t kUserSchemaVersion = 5;

// The users of a store. Roles that are not built in are refused before they get here.
class UserDirectory {
 public:
  // `store` outlives it.
  explicit UserDirectory(engine::Store& store) : store_(store) {}

  Result<std::optional<User>> find(const UserName& name) const;
  // Of one database, or of all; by their ids.
  Result<std::vector<User>> list(const std::optional<std::string>& database) const;
  // Whether there has never been a user in this store: users() that are gone leave their mark, the
  // document `authSchema` of admin.system.version.
  Result<bool> never_had_any() const;
  // Leaves the mark if there are users that were not made by this class, but written to their
  // collection.
  Status note_existing();

  // Durable when they return. Location51003 if the user exists.
  Status create(const User& user);
  // UserNotFound (11).
  Status replace(const User& user);
  Status drop(const UserName& name);
  // All of them or none: those that exist are replaced. `drops_others`: users of `database`, or of
  // all, that are not among these go.
  Status merge(const std::vector<User>& users, const std::optional<std::string>& database,
               bool drops_others);
  // Returns how many.
  Result<int64_t> drop_all(std::string_view database);

 private:
  engine::Store& store_;
};

inline constexpr ErrorCode kUserNotFound{11};
inline constexpr ErrorCode kRoleNotFound{31};

}  // namespace gridmount::wire
