// Users, and their documents in admin.system.users:
//   {_id: "db.name", userId: UUID, user, db,
//    credentials: {"SCRAM-SHA-1": {...}, "SCRAM-SHA-256": {...}}, roles: [{role, db}], customData}
// Users of $external have credentials: {external: true}. Users that were made by earlier versions
// have no userId.
// Source: MongoDB manual, "system.users Collection".
//
// UserDirectory is thread-safe. The other types are plain values: while one thread changes an
// object, no other thread may use it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
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

// Returns "name@database".
inline std::string account_of(const UserName& user) {
  return user.name + "@" + user.database;
}

struct User {
  UserName name;
  std::string uuid = {};  // 16 bytes, or empty
  std::map<ScramMechanism, ScramCredentials> credentials;
  bool is_external = false;  // a user of $external, who logs in with a client certificate
  std::vector<Role> roles;
  bson::Document custom_data;

  // Returns the user's document.
  bson::Document to_bson() const;
  // Reads a user's document. Returns nothing if one of the fields `user` and `db` is not a string
  // or is empty.
  static std::optional<User> from_bson(bson::View document);
};

// Appends the field userId. `uuid` must have 16 bytes.
void append_uuid(bson::Builder& out, std::string_view uuid);

// The version of the form of these documents, as servers number it. The parameter authSchemaVersion
// and the document `authSchema` have this number. mongorestore compares the server's parameter with
// the document `authSchema` of the dump.
inline constexpr int32_t kUserSchemaVersion = 5;

// The users of a store. Callers must refuse roles that are not built in: this class does not check
// roles.
class UserDirectory {
 public:
  // `store` must outlive this object.
  explicit UserDirectory(engine::Store& store) : store_(store) {}

  // Returns the user, or nothing if there is no such document or User::from_bson() rejects it.
  Result<std::optional<User>> find(const UserName& name) const;
  // Returns the users of one database, or of all databases if `database` is nullopt, sorted by _id.
  // Leaves out the documents that User::from_bson() rejects.
  Result<std::vector<User>> list(const std::optional<std::string>& database) const;
  // Returns true if this store has no users and no mark, which is the document `authSchema` in
  // admin.system.version. create() and drop() write the mark. merge() and drop_all() write the mark
  // if they add, replace or remove a user. The mark remains when all users are removed.
  Result<bool> never_had_any() const;
  // Writes the mark if the store has users but no mark. Clients can write users directly to the
  // collection admin.system.users, and these writes leave no mark.
  Status record_existing();

  // The changes below are durable on return. create() fails with Location51003 if the user exists
  // already.
  Status create(const User& user);
  // Reads the user, lets `apply` change it, and writes it, all in one transaction, so that
  // concurrent changes do not undo each other. Changes nothing if `apply` fails. `apply` must be
  // quick and must not use the store. update() and drop() fail with UserNotFound (11) if the user
  // does not exist.
  Status update(const UserName& name, const std::function<Status(User&)>& apply);
  Status drop(const UserName& name);
  // Adds or replaces all of `users`. Changes nothing if it fails. With `drops_others`, also removes
  // all other users of `database`, or of every database if `database` is nullopt.
  Status merge(const std::vector<User>& users, const std::optional<std::string>& database,
               bool drops_others);
  // Removes all users of the database, and returns their number.
  Result<int64_t> drop_all(std::string_view database);

 private:
  engine::Store& store_;
};

inline constexpr ErrorCode kUserNotFound{11};
inline constexpr ErrorCode kRoleNotFound{31};

}  // namespace gridmount::wire
