#include "engine/wire/auth/role.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gridmount::wire {
namespace {

using Actions = std::span<const std::string_view>;

template <typename... Names>
constexpr auto actions(Names... names) {
  return std::array<std::string_view, sizeof...(Names)>{names...};
}

constexpr auto kRead = actions("changeStream", "collStats", "dbHash", "dbStats", "find",
                               "killCursors", "listCollections", "listIndexes");
constexpr auto kReadWrite =
    actions("changeStream", "collStats", "convertToCapped", "createCollection", "createIndex",
            "dbHash", "dbStats", "dropCollection", "dropIndex", "find", "insert", "killCursors",
            "listCollections", "listIndexes", "remove", "renameCollectionSameDB", "update");
constexpr auto kDatabaseAdmin =
    actions("bypassDocumentValidation", "collMod", "collStats", "compact", "convertToCapped",
            "createCollection", "createIndex", "dbHash", "dbStats", "dropCollection",
            "dropDatabase", "dropIndex", "enableProfiler", "indexStats", "listCollections",
            "listIndexes", "planCacheIndexFilter", "planCacheRead", "planCacheWrite", "reIndex",
            "renameCollectionSameDB", "storageDetails", "validate");
constexpr auto kProfileAdmin = actions(
    "changeStream", "collStats", "convertToCapped", "createCollection", "dbHash", "dbStats",
    "dropCollection", "find", "killCursors", "listCollections", "listIndexes", "planCacheRead");
constexpr auto kUserAdmin = actions("changeCustomData", "changePassword", "createRole",
                                    "createUser", "dropRole", "dropUser", "grantRole", "revokeRole",
                                    "setAuthenticationRestriction", "viewRole", "viewUser");
constexpr auto kListDatabases = actions("listDatabases");
constexpr auto kUserAdminCluster =
    actions("authSchemaUpgrade", "invalidateUserCache", "listDatabases");
constexpr auto kUsersRead = actions("collStats", "dbHash", "dbStats", "find", "killCursors",
                                    "listCollections", "listIndexes", "planCacheRead");
constexpr auto kMonitorCluster = actions(
    "connPoolStats", "getCmdLineOpts", "getDefaultRWConcern", "getLog", "getParameter",
    "getShardMap", "hostInfo", "inprog", "listDatabases", "listSessions", "listShards", "netstat",
    "replSetGetConfig", "replSetGetStatus", "serverStatus", "shardingState", "top");
constexpr auto kMonitorDatabase = actions("collStats", "dbStats", "getDatabaseVersion",
                                          "getShardVersion", "indexStats", "useUUID");
constexpr auto kHostCluster =
    actions("applicationMessage", "closeAllDatabases", "connPoolSync", "dropConnections",
            "flushRouterConfig", "fsync", "invalidateUserCache", "killAnyCursor", "killAnySession",
            "killop", "logRotate", "resync", "rotateCertificates", "setParameter", "shutdown",
            "touch", "unlock");
constexpr auto kKillCursors = actions("killCursors");
constexpr auto kManagerCluster =
    actions("addShard", "appendOplogNote", "applicationMessage", "cleanupOrphaned",
            "flushRouterConfig", "getDefaultRWConcern", "listSessions", "listShards", "removeShard",
            "replSetConfigure", "replSetGetConfig", "replSetGetStatus", "replSetStateChange",
            "resync", "setDefaultRWConcern", "setFeatureCompatibilityVersion");
constexpr auto kDropDatabase = actions("dropDatabase");
constexpr auto kBackupCluster =
    actions("appendOplogNote", "getParameter", "listDatabases", "serverStatus");
constexpr auto kBackup = actions("collStats", "dbStats", "find", "listCollections", "listIndexes");
constexpr auto kRestoreCluster = actions("getParameter", "listDatabases");
constexpr auto kRestore = actions(
    "bypassDocumentValidation", "changeCustomData", "changePassword", "collMod", "convertToCapped",
    "createCollection", "createIndex", "createRole", "createUser", "dropCollection", "dropRole",
    "dropUser", "grantRole", "insert", "listCollections", "revokeRole", "viewRole", "viewUser");
constexpr auto kRestoreSystem = actions("bypassDocumentValidation", "collMod", "createCollection",
                                        "createIndex", "dropCollection", "find", "insert",
                                        "listCollections", "listIndexes", "remove", "update");
constexpr auto kRestoreTemporary = actions("find");
constexpr auto kValidate = actions("validate");

constexpr std::array<std::string_view, 5> kOfEachDatabase = {"dbAdmin", "dbOwner", "read",
                                                             "readWrite", "userAdmin"};
constexpr std::array<std::string_view, 11> kOfAdmin = {"backup",
                                                       "clusterAdmin",
                                                       "clusterManager",
                                                       "clusterMonitor",
                                                       "dbAdminAnyDatabase",
                                                       "hostManager",
                                                       "readAnyDatabase",
                                                       "readWriteAnyDatabase",
                                                       "restore",
                                                       "root",
                                                       "userAdminAnyDatabase"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_system(std::string_view collection) {
  return collection.starts_with("system.");
}

// What "any database" leaves out.
bool is_internal(std::string_view database) {
  return database == "local" || database == "config";
}

// What read and readWrite reach although they are system's.
bool is_readable_system(std::string_view collection) {
  return collection == "system.js" || collection == "system.namespaces" ||
         collection == "system.indexes" || collection == "system.views";
}

}  // namespace

bool is_builtin_role(const Role& role) {
  return is_among(kOfEachDatabase, role.name) ||
         (role.database == "admin" && is_among(kOfAdmin, role.name));
}

std::vector<std::string_view> builtin_roles(std::string_view database) {
  std::vector<std::string_view> names(kOfEachDatabase.begin(), kOfEachDatabase.end());
  if (database == "admin") names.insert(names.end(), kOfAdmin.begin(), kOfAdmin.end());
  std::sort(names.begin(), names.end());
  return names;
}

Permissions::Permissions(std::span<const Role> roles) {
  for (const Role& role : roles) {
    if (is_builtin_role(role)) grant(role);
  }
}

void Permissions::grant_to(Grant::Kind kind, std::string database, Actions actions,
                           std::string collection) {
  grants_.push_back({kind, std::move(database), std::move(collection), actions});
}

void Permissions::grant_cluster(Actions actions) {
  cluster_.insert(actions.begin(), actions.end());
}

void Permissions::grant(const Role& role) {
  using Kind = Grant::Kind;
  const std::string& name = role.name;
  const std::string& database = role.database;
  const bool everything = name == "root";
  const bool owns = name == "dbOwner";
  if (name == "read") grant_to(Kind::kDatabase, database, kRead);
  if (name == "readWrite" || owns) grant_to(Kind::kDatabase, database, kReadWrite);
  if (name == "dbAdmin" || owns) {
    grant_to(Kind::kDatabase, database, kDatabaseAdmin);
    grant_to(Kind::kCollection, database, kProfileAdmin, "system.profile");
  }
  if (name == "userAdmin" || owns) grant_to(Kind::kDatabase, database, kUserAdmin);
  if (name == "readAnyDatabase") grant_to(Kind::kAnyDatabase, {}, kRead);
  if (name == "readWriteAnyDatabase" || everything) grant_to(Kind::kAnyDatabase, {}, kReadWrite);
  if (name == "readAnyDatabase" || name == "readWriteAnyDatabase" || everything) {
    grant_cluster(kListDatabases);
  }
  if (name == "dbAdminAnyDatabase" || everything) {
    grant_to(Kind::kAnyDatabase, {}, kDatabaseAdmin);
    grant_cluster(kListDatabases);
  }
  if (name == "userAdminAnyDatabase" || everything) {
    grant_to(Kind::kAnyDatabase, {}, kUserAdmin);
    // Users of local and config as well.
    grant_to(Kind::kAnySystem, {}, kUserAdmin);
    grant_to(Kind::kCollection, "admin", kUsersRead, "system.users");
    grant_to(Kind::kCollection, "admin", kUsersRead, "system.roles");
    grant_cluster(kUserAdminCluster);
  }
  const bool administers = name == "clusterAdmin" || everything;
  if (name == "clusterMonitor" || administers) {
    grant_cluster(kMonitorCluster);
    grant_to(Kind::kAnyDatabase, {}, kMonitorDatabase);
    grant_to(Kind::kAnySystem, {}, kMonitorDatabase);
  }
  if (name == "hostManager" || administers) {
    grant_cluster(kHostCluster);
    grant_to(Kind::kAnyDatabase, {}, kKillCursors);
  }
  if (name == "clusterManager" || administers) grant_cluster(kManagerCluster);
  if (administers) grant_to(Kind::kAnyDatabase, {}, kDropDatabase);
  if (name == "backup" || everything) {
    grant_cluster(kBackupCluster);
    grant_to(Kind::kAnyDatabase, {}, kBackup);
    grant_to(Kind::kAnySystem, {}, kBackup);
  }
  if (name == "restore" || everything) {
    grant_cluster(kRestoreCluster);
    grant_to(Kind::kAnyDatabase, {}, kRestore);
    grant_to(Kind::kAnySystem, {}, kRestoreSystem);
    // Where mongorestore puts users before it has them merged.
    grant_to(Kind::kCollection, "admin", kRestoreTemporary, "tempusers");
    grant_to(Kind::kCollection, "admin", kRestoreTemporary, "temproles");
  }
  if (everything) grant_to(Kind::kAnySystem, {}, kValidate);
}

bool Permissions::covers(const Grant& grant, std::string_view database,
                         std::string_view collection) {
  const bool is_special = is_system(collection) && !is_readable_system(collection);
  switch (grant.kind) {
    case Grant::Kind::kDatabase:
      return grant.database == database && !is_special;
    case Grant::Kind::kCollection:
      return grant.database == database && grant.collection == collection;
    case Grant::Kind::kAnyDatabase:
      return !is_internal(database) && !is_special;
    case Grant::Kind::kAnySystem:
      return is_special || is_internal(database);
  }
  return false;
}

bool Permissions::on_collection(std::string_view action, std::string_view database,
                                std::string_view collection) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    return is_among(grant.actions, action) && covers(grant, database, collection);
  });
}

bool Permissions::any_on_collection(std::string_view database, std::string_view collection) const {
  return std::any_of(grants_.begin(), grants_.end(),
                     [&](const Grant& grant) { return covers(grant, database, collection); });
}

bool Permissions::on_database(std::string_view action, std::string_view database) const {
  return on_collection(action, database, {});
}

bool Permissions::on_cluster(std::string_view action) const {
  return cluster_.contains(action);
}

bool Permissions::any_on(std::string_view database) const {
  return on_database("find", database) || on_database("insert", database) ||
         on_database("listCollections", database);
}

}  // namespace gridmount::wire
