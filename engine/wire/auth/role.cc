#include "engine/wire/auth/role.h"

#include <algorithm>
#include <utility>

#include "engine/bson/value.h"
#include "engine/wire/auth/builtin_roles.h"

namespace gridmount::wire {
namespace {

using Kind = Resource::Kind;

// Returns true for the databases that Kind::kAnyDatabase does not include.
bool is_internal(std::string_view database) {
  return database == "local" || database == "config";
}

// Returns true for the collections to which the privileges on a database do not apply. Roles must
// name them.
bool is_special(std::string_view database, std::string_view collection) {
  return collection.starts_with("system.") ||
         (database == "local" && collection.starts_with("replset."));
}

bool covers(const Resource& resource, std::string_view database, std::string_view collection) {
  switch (resource.kind) {
    case Kind::kCluster:
      return false;
    case Kind::kDatabase:
      return resource.database == database && !is_special(database, collection);
    case Kind::kCollection:
      return resource.database == database && resource.collection == collection;
    case Kind::kAnyDatabase:
      return !is_internal(database) && !is_special(database, collection);
    case Kind::kCollectionOfAnyDatabase:
      return resource.collection == collection;
    case Kind::kAnything:
      return true;
  }
  return false;
}

// Returns true if the resource may include something in the database.
bool reaches_into(const Resource& resource, std::string_view database) {
  if (resource.kind == Kind::kCollection) return resource.database == database;
  return resource.kind == Kind::kCollectionOfAnyDatabase || covers(resource, database, {});
}

void append_resource(bson::Builder& out, const Resource& resource) {
  bson::Builder& document = out.open_document("resource");
  if (resource.kind == Kind::kCluster) {
    document.append("cluster", true);
  } else if (resource.kind == Kind::kAnything) {
    document.append("anyResource", true);
  } else {
    document.append("db", resource.database).append("collection", resource.collection);
  }
  document.close();
}

}  // namespace

bool is_builtin_role(const Role& role) {
  const auto grants = builtin_grants();
  const bool is_known = std::any_of(grants.begin(), grants.end(), [&](const BuiltinGrant& grant) {
    return grant.role == role.name;
  });
  return is_known && (role.database == "admin" || is_of_each_database(role.name));
}

std::vector<std::string_view> builtin_roles(std::string_view database) {
  std::set<std::string_view> names;
  for (const BuiltinGrant& grant : builtin_grants()) {
    if (database == "admin" || is_of_each_database(grant.role)) names.insert(grant.role);
  }
  return {names.begin(), names.end()};
}

Permissions::Permissions(std::span<const Role> roles) {
  for (const Role& role : roles) {
    if (!is_builtin_role(role)) continue;
    for (const BuiltinGrant& grant : builtin_grants()) {
      if (grant.role != role.name) continue;
      const bool is_own = grant.database.empty() &&
                          (grant.kind == Kind::kDatabase || grant.kind == Kind::kCollection);
      add({grant.kind, is_own ? role.database : std::string(grant.database),
           std::string(grant.collection)},
          grant.actions);
    }
  }
}

void Permissions::add(Resource resource, std::span<const std::string_view> actions) {
  auto known = std::find_if(grants_.begin(), grants_.end(),
                            [&](const Grant& grant) { return grant.resource == resource; });
  if (known == grants_.end()) {
    known = grants_.insert(known, {std::move(resource), {}});
  }
  known->actions.insert(actions.begin(), actions.end());
}

bool Permissions::on_collection(std::string_view action, std::string_view database,
                                std::string_view collection) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    return grant.actions.contains(action) && covers(grant.resource, database, collection);
  });
}

bool Permissions::any_on_collection(std::string_view database, std::string_view collection) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    return covers(grant.resource, database, collection);
  });
}

bool Permissions::on_database(std::string_view action, std::string_view database) const {
  return on_collection(action, database, {});
}

bool Permissions::on_any_database(std::string_view action) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    const Kind kind = grant.resource.kind;
    return (kind == Kind::kAnyDatabase || kind == Kind::kAnything) &&
           grant.actions.contains(action);
  });
}

bool Permissions::on_cluster(std::string_view action) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    return grant.resource.kind == Kind::kCluster && grant.actions.contains(action);
  });
}

bool Permissions::any_on(std::string_view database) const {
  return std::any_of(grants_.begin(), grants_.end(),
                     [&](const Grant& grant) { return reaches_into(grant.resource, database); });
}

void append_privileges(bson::Builder& array, const Permissions& permissions) {
  for (const Permissions::Grant& grant : permissions.grants()) {
    bson::Builder& out = array.push_open_document();
    append_resource(out, grant.resource);
    bson::Builder& list = out.open_array("actions");
    for (const std::string_view action : grant.actions) list.push(bson::Value(action).view());
    list.close();
    out.close();
  }
}

}  // namespace gridmount::wire
