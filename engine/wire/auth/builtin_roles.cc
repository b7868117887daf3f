#include "engine/wire/auth/builtin_roles.h"

#include <algorithm>
#include <array>

namespace gridmount::wire {
namespace {

template <typename... Names>
constexpr auto actions(Names... names) {
  return std::array<std::string_view, sizeof...(Names)>{names...};
}

constexpr auto kRead = actions("changeStream", "collStats", "dbHash", "dbStats", "find",
                               "killCursors", "listCollections", "listIndexes", "planCacheRead");
constexpr auto kReadWrite =
    actions("changeStream", "collStats", "compactStructuredEncryptionData", "convertToCapped",
            "createCollection", "createIndex", "dbHash", "dbStats", "dropCollection", "dropIndex",
            "find", "insert", "killCursors", "listCollections", "listIndexes", "planCacheRead",
            "remove", "renameCollectionSameDB", "update");
constexpr auto kDbAdmin = actions(
    "bypassDocumentValidation", "collMod", "collStats", "compact", "convertToCapped",
    "createCollection", "createIndex", "dbStats", "dropCollection", "dropDatabase", "dropIndex",
    "enableProfiler", "listCollections", "listIndexes", "planCacheIndexFilter", "planCacheRead",
    "planCacheWrite", "reIndex", "renameCollectionSameDB", "storageDetails", "validate");
constexpr auto kDbAdminSystemProfile = actions(
    "changeStream", "collStats", "convertToCapped", "createCollection", "dbHash", "dbStats",
    "dropCollection", "find", "killCursors", "listCollections", "listIndexes", "planCacheRead");
constexpr auto kUserAdmin = actions("changeCustomData", "changePassword", "createRole",
                                    "createUser", "dropRole", "dropUser", "grantRole", "revokeRole",
                                    "setAuthenticationRestriction", "viewRole", "viewUser");
constexpr auto kDbOwner = actions(
    "bypassDocumentValidation", "changeCustomData", "changePassword", "changeStream", "collMod",
    "collStats", "compact", "compactStructuredEncryptionData", "convertToCapped",
    "createCollection", "createIndex", "createRole", "createUser", "dbHash", "dbStats",
    "dropCollection", "dropDatabase", "dropIndex", "dropRole", "dropUser", "enableProfiler", "find",
    "grantRole", "insert", "killCursors", "listCollections", "listIndexes", "planCacheIndexFilter",
    "planCacheRead", "planCacheWrite", "reIndex", "remove", "renameCollectionSameDB", "revokeRole",
    "setAuthenticationRestriction", "storageDetails", "update", "validate", "viewRole", "viewUser");
constexpr auto kEnableSharding =
    actions("enableSharding", "refineCollectionShardKey", "reshardCollection");
constexpr auto kReadAnyDatabaseCluster = actions("listDatabases");
constexpr auto kDbAdminAnyDatabaseCluster = actions("applyOps", "listDatabases");
constexpr auto kUserAdminAnyDatabase =
    actions("changeCustomData", "changePassword", "createRole", "createUser", "dropRole",
            "dropUser", "grantRole", "listCachedAndActiveUsers", "revokeRole",
            "setAuthenticationRestriction", "viewRole", "viewUser");
constexpr auto kUserAdminAnyDatabaseCluster =
    actions("authSchemaUpgrade", "invalidateUserCache", "listDatabases", "viewUser");
constexpr auto kUserAdminAnyDatabaseAdminSystemUsers =
    actions("changeStream", "collStats", "createIndex", "dbHash", "dbStats", "dropIndex", "find",
            "killCursors", "listCollections", "listIndexes", "planCacheRead");
constexpr auto kClusterMonitorCluster =
    actions("allCollectionStats", "checkFreeMonitoringStatus", "connPoolStats", "getCmdLineOpts",
            "getDefaultRWConcern", "getLog", "getParameter", "getShardMap", "hostInfo", "inprog",
            "listDatabases", "listSessions", "listShards", "netstat", "operationMetrics",
            "replSetGetConfig", "replSetGetStatus", "serverStatus", "shardedDataDistribution",
            "shardingState", "top", "useUUID");
constexpr auto kClusterMonitor =
    actions("collStats", "dbStats", "getDatabaseVersion", "getShardVersion", "indexStats");
constexpr auto kClusterMonitorConfig =
    actions("changeStream", "collStats", "dbHash", "dbStats", "find", "getDatabaseVersion",
            "getShardVersion", "indexStats", "killCursors", "listCollections", "listIndexes",
            "planCacheRead");
constexpr auto kClusterMonitorLocalSystemReplset = actions("find");
constexpr auto kHostManagerCluster =
    actions("applicationMessage", "auditConfigure", "connPoolSync", "dropConnections",
            "flushRouterConfig", "fsync", "invalidateUserCache", "killAnyCursor", "killAnySession",
            "killop", "logRotate", "oidReset", "replSetResizeOplog", "resync", "rotateCertificates",
            "setParameter", "shutdown", "touch", "trafficRecord", "unlock");
constexpr auto kHostManager = actions("killCursors");
constexpr auto kClusterManagerCluster =
    actions("addShard", "appendOplogNote", "applicationMessage", "cleanupOrphaned",
            "flushRouterConfig", "getClusterParameter", "getDefaultRWConcern", "listSessions",
            "listShards", "removeShard", "replSetConfigure", "replSetGetConfig", "replSetGetStatus",
            "replSetStateChange", "resync", "runTenantMigration", "setClusterParameter",
            "setDefaultRWConcern", "setFeatureCompatibilityVersion", "setFreeMonitoring");
constexpr auto kClusterManager =
    actions("clearJumboFlag", "enableSharding", "moveChunk", "refineCollectionShardKey",
            "reshardCollection", "splitChunk", "splitVector");
constexpr auto kClusterManagerConfig =
    actions("changeStream", "clearJumboFlag", "collStats", "dbHash", "dbStats", "enableSharding",
            "find", "insert", "killCursors", "listCollections", "listIndexes", "moveChunk",
            "planCacheRead", "refineCollectionShardKey", "remove", "reshardCollection",
            "splitChunk", "splitVector", "update");
constexpr auto kClusterManagerLocal =
    actions("clearJumboFlag", "enableSharding", "insert", "moveChunk", "refineCollectionShardKey",
            "remove", "reshardCollection", "splitChunk", "splitVector", "update");
constexpr auto kClusterManagerAnything = actions("dbCheck");
constexpr auto kClusterManagerLocalReplsetElection = actions("insert", "remove", "update");
constexpr auto kClusterAdminCluster = actions(
    "addShard", "allCollectionStats", "appendOplogNote", "applicationMessage", "auditConfigure",
    "checkFreeMonitoringStatus", "cleanupOrphaned", "connPoolStats", "connPoolSync",
    "dropConnections", "flushRouterConfig", "fsync", "getClusterParameter", "getCmdLineOpts",
    "getDefaultRWConcern", "getLog", "getParameter", "getShardMap", "hostInfo", "inprog",
    "invalidateUserCache", "killAnyCursor", "killAnySession", "killop", "listDatabases",
    "listSessions", "listShards", "logRotate", "netstat", "oidReset", "operationMetrics",
    "removeShard", "replSetConfigure", "replSetGetConfig", "replSetGetStatus", "replSetResizeOplog",
    "replSetStateChange", "resync", "rotateCertificates", "runTenantMigration", "serverStatus",
    "setClusterParameter", "setDefaultRWConcern", "setFeatureCompatibilityVersion",
    "setFreeMonitoring", "setParameter", "shardedDataDistribution", "shardingState", "shutdown",
    "top", "touch", "trafficRecord", "unlock", "useUUID");
constexpr auto kClusterAdmin =
    actions("clearJumboFlag", "collStats", "dbStats", "dropDatabase", "enableSharding",
            "getDatabaseVersion", "getShardVersion", "indexStats", "killCursors", "moveChunk",
            "refineCollectionShardKey", "reshardCollection", "splitChunk", "splitVector");
constexpr auto kClusterAdminConfig = actions(
    "changeStream", "clearJumboFlag", "collStats", "dbHash", "dbStats", "enableSharding", "find",
    "getDatabaseVersion", "getShardVersion", "indexStats", "insert", "killCursors",
    "listCollections", "listIndexes", "moveChunk", "planCacheRead", "refineCollectionShardKey",
    "remove", "reshardCollection", "splitChunk", "splitVector", "update");
constexpr auto kClusterAdminLocalReplsetElection = actions("find", "insert", "remove", "update");
constexpr auto kClusterAdminAnything = actions("dbCheck", "exportCollection", "importCollection");
constexpr auto kBackupCluster = actions("appendOplogNote", "getParameter", "listDatabases",
                                        "serverStatus", "setUserWriteBlockMode", "useUUID");
constexpr auto kBackupConfigSettings = actions("find", "insert", "update");
constexpr auto kBackupAnything = actions("collStats", "listCollections", "listIndexes");
constexpr auto kRestore =
    actions("bypassDocumentValidation", "changeCustomData", "changePassword", "collMod",
            "convertToCapped", "createCollection", "createIndex", "createRole", "createUser",
            "dropCollection", "dropRole", "dropUser", "grantRole", "insert", "revokeRole",
            "setAuthenticationRestriction", "viewRole", "viewUser");
constexpr auto kRestoreSystemJs =
    actions("bypassDocumentValidation", "collMod", "convertToCapped", "createCollection",
            "createIndex", "dropCollection", "insert");
constexpr auto kRestoreAnything = actions("listCollections");
constexpr auto kRestoreAdminSystemVersion =
    actions("bypassDocumentValidation", "collMod", "convertToCapped", "createCollection",
            "createIndex", "dropCollection", "find", "insert");
constexpr auto kRestoreSystemUsers =
    actions("bypassDocumentValidation", "collMod", "convertToCapped", "createCollection",
            "createIndex", "dropCollection", "find", "insert", "remove", "update");
constexpr auto kRestoreCluster = actions("applyOps", "bypassWriteBlockingMode", "forceUUID",
                                         "getParameter", "setUserWriteBlockMode", "useUUID");
constexpr auto kRestoreAdminSystemRoles = actions("createIndex");
constexpr auto kRootCluster = actions(
    "addShard", "allCollectionStats", "appendOplogNote", "applicationMessage", "applyOps",
    "auditConfigure", "authSchemaUpgrade", "bypassWriteBlockingMode", "checkFreeMonitoringStatus",
    "cleanupOrphaned", "connPoolStats", "connPoolSync", "dropConnections", "flushRouterConfig",
    "forceUUID", "fsync", "getClusterParameter", "getCmdLineOpts", "getDefaultRWConcern", "getLog",
    "getParameter", "getShardMap", "hostInfo", "inprog", "invalidateUserCache", "killAnyCursor",
    "killAnySession", "killop", "listDatabases", "listSessions", "listShards", "logRotate",
    "netstat", "oidReset", "operationMetrics", "removeShard", "replSetConfigure",
    "replSetGetConfig", "replSetGetStatus", "replSetResizeOplog", "replSetStateChange", "resync",
    "rotateCertificates", "runTenantMigration", "serverStatus", "setClusterParameter",
    "setDefaultRWConcern", "setFeatureCompatibilityVersion", "setFreeMonitoring", "setParameter",
    "setUserWriteBlockMode", "shardedDataDistribution", "shardingState", "shutdown", "top", "touch",
    "trafficRecord", "unlock", "useTenant", "useUUID", "viewUser");
constexpr auto kRoot = actions(
    "bypassDocumentValidation", "changeCustomData", "changePassword", "changeStream",
    "clearJumboFlag", "collMod", "collStats", "compact", "compactStructuredEncryptionData",
    "convertToCapped", "createCollection", "createIndex", "createRole", "createUser", "dbHash",
    "dbStats", "dropCollection", "dropDatabase", "dropIndex", "dropRole", "dropUser",
    "enableProfiler", "enableSharding", "find", "getDatabaseVersion", "getShardVersion",
    "grantRole", "indexStats", "insert", "killCursors", "listCachedAndActiveUsers",
    "listCollections", "listIndexes", "moveChunk", "planCacheIndexFilter", "planCacheRead",
    "planCacheWrite", "reIndex", "refineCollectionShardKey", "remove", "renameCollectionSameDB",
    "reshardCollection", "revokeRole", "setAuthenticationRestriction", "splitChunk", "splitVector",
    "storageDetails", "update", "validate", "viewRole", "viewUser");
constexpr auto kRootConfig = actions(
    "bypassDocumentValidation", "changeCustomData", "changePassword", "changeStream",
    "clearJumboFlag", "collMod", "collStats", "convertToCapped", "createCollection", "createIndex",
    "createRole", "createUser", "dbHash", "dbStats", "dropCollection", "dropRole", "dropUser",
    "enableSharding", "find", "getDatabaseVersion", "getShardVersion", "grantRole", "indexStats",
    "insert", "killCursors", "listCollections", "listIndexes", "moveChunk", "planCacheRead",
    "refineCollectionShardKey", "remove", "reshardCollection", "revokeRole",
    "setAuthenticationRestriction", "splitChunk", "splitVector", "update", "viewRole", "viewUser");
constexpr auto kRootLocalSystemReplset =
    actions("bypassDocumentValidation", "changeStream", "collMod", "collStats", "convertToCapped",
            "createCollection", "createIndex", "dbHash", "dbStats", "dropCollection", "find",
            "insert", "killCursors", "listCollections", "listIndexes", "planCacheRead");
constexpr auto kRootAnything =
    actions("collStats", "dbCheck", "exportCollection", "importCollection", "listCollections",
            "listIndexes", "validate");
constexpr auto kRootSystemUsers = actions(
    "bypassDocumentValidation", "changeStream", "collMod", "collStats", "convertToCapped",
    "createCollection", "createIndex", "dbHash", "dbStats", "dropCollection", "find", "insert",
    "killCursors", "listCollections", "listIndexes", "planCacheRead", "remove", "update");
constexpr auto kRootSystemJs =
    actions("bypassDocumentValidation", "changeStream", "collMod", "collStats",
            "compactStructuredEncryptionData", "convertToCapped", "createCollection", "createIndex",
            "dbHash", "dbStats", "dropCollection", "dropIndex", "find", "insert", "killCursors",
            "listCollections", "listIndexes", "planCacheRead", "remove", "renameCollectionSameDB",
            "update");
constexpr auto kRootConfigSystemPreimages = actions("find", "remove");

using enum Resource::Kind;

const BuiltinGrant kGrants[] = {
    {"read", kDatabase, "", "", kRead},
    {"read", kCollection, "", "system.js", kRead},
    {"readWrite", kDatabase, "", "", kReadWrite},
    {"readWrite", kCollection, "", "system.js", kReadWrite},
    {"dbAdmin", kDatabase, "", "", kDbAdmin},
    {"dbAdmin", kCollection, "", "system.profile", kDbAdminSystemProfile},
    {"userAdmin", kDatabase, "", "", kUserAdmin},
    {"dbOwner", kDatabase, "", "", kDbOwner},
    {"dbOwner", kCollection, "", "system.js", kReadWrite},
    {"dbOwner", kCollection, "", "system.profile", kDbAdminSystemProfile},
    {"enableSharding", kAnyDatabase, "", "", kEnableSharding},
    {"readAnyDatabase", kAnyDatabase, "", "", kRead},
    {"readAnyDatabase", kCluster, "", "", kReadAnyDatabaseCluster},
    {"readAnyDatabase", kCollectionOfAnyDatabase, "", "system.js", kRead},
    {"readWriteAnyDatabase", kAnyDatabase, "", "", kReadWrite},
    {"readWriteAnyDatabase", kCluster, "", "", kReadAnyDatabaseCluster},
    {"readWriteAnyDatabase", kCollectionOfAnyDatabase, "", "system.js", kReadWrite},
    {"dbAdminAnyDatabase", kCluster, "", "", kDbAdminAnyDatabaseCluster},
    {"dbAdminAnyDatabase", kAnyDatabase, "", "", kDbAdmin},
    {"dbAdminAnyDatabase", kCollectionOfAnyDatabase, "", "system.profile", kDbAdminSystemProfile},
    {"userAdminAnyDatabase", kAnyDatabase, "", "", kUserAdminAnyDatabase},
    {"userAdminAnyDatabase", kDatabase, "local", "", kUserAdmin},
    {"userAdminAnyDatabase", kDatabase, "config", "", kUserAdmin},
    {"userAdminAnyDatabase", kCluster, "", "", kUserAdminAnyDatabaseCluster},
    {"userAdminAnyDatabase", kCollectionOfAnyDatabase, "", "system.users", kRead},
    {"userAdminAnyDatabase", kCollection, "admin", "system.users",
     kUserAdminAnyDatabaseAdminSystemUsers},
    {"userAdminAnyDatabase", kCollection, "admin", "system.roles",
     kUserAdminAnyDatabaseAdminSystemUsers},
    {"userAdminAnyDatabase", kCollection, "admin", "system.version", kRead},
    {"userAdminAnyDatabase", kCollection, "admin", "system.backup_users", kRead},
    {"clusterMonitor", kCluster, "", "", kClusterMonitorCluster},
    {"clusterMonitor", kAnyDatabase, "", "", kClusterMonitor},
    {"clusterMonitor", kDatabase, "config", "", kClusterMonitorConfig},
    {"clusterMonitor", kCollection, "config", "system.sessions", kClusterMonitor},
    {"clusterMonitor", kDatabase, "local", "", kClusterMonitorConfig},
    {"clusterMonitor", kCollection, "config", "system.js", kRead},
    {"clusterMonitor", kCollection, "local", "system.js", kRead},
    {"clusterMonitor", kCollection, "local", "system.replset", kClusterMonitorLocalSystemReplset},
    {"clusterMonitor", kCollection, "local", "replset.election", kClusterMonitorLocalSystemReplset},
    {"clusterMonitor", kCollection, "local", "replset.minvalid", kClusterMonitorLocalSystemReplset},
    {"clusterMonitor", kCollectionOfAnyDatabase, "", "system.profile",
     kClusterMonitorLocalSystemReplset},
    {"hostManager", kCluster, "", "", kHostManagerCluster},
    {"hostManager", kAnyDatabase, "", "", kHostManager},
    {"clusterManager", kCluster, "", "", kClusterManagerCluster},
    {"clusterManager", kAnyDatabase, "", "", kClusterManager},
    {"clusterManager", kDatabase, "config", "", kClusterManagerConfig},
    {"clusterManager", kDatabase, "local", "", kClusterManagerLocal},
    {"clusterManager", kCollection, "local", "system.replset", kRead},
    {"clusterManager", kCollection, "config", "system.js", kRead},
    {"clusterManager", kAnything, "", "", kClusterManagerAnything},
    {"clusterManager", kCollection, "local", "system.healthlog", kRead},
    {"clusterManager", kCollection, "local", "replset.election",
     kClusterManagerLocalReplsetElection},
    {"clusterManager", kCollection, "local", "replset.minvalid",
     kClusterManagerLocalReplsetElection},
    {"clusterAdmin", kCluster, "", "", kClusterAdminCluster},
    {"clusterAdmin", kAnyDatabase, "", "", kClusterAdmin},
    {"clusterAdmin", kDatabase, "config", "", kClusterAdminConfig},
    {"clusterAdmin", kCollection, "config", "system.sessions", kClusterMonitor},
    {"clusterAdmin", kDatabase, "local", "", kClusterAdminConfig},
    {"clusterAdmin", kCollection, "config", "system.js", kRead},
    {"clusterAdmin", kCollection, "local", "system.js", kRead},
    {"clusterAdmin", kCollection, "local", "system.replset", kRead},
    {"clusterAdmin", kCollection, "local", "replset.election", kClusterAdminLocalReplsetElection},
    {"clusterAdmin", kCollection, "local", "replset.minvalid", kClusterAdminLocalReplsetElection},
    {"clusterAdmin", kCollectionOfAnyDatabase, "", "system.profile",
     kClusterMonitorLocalSystemReplset},
    {"clusterAdmin", kAnything, "", "", kClusterAdminAnything},
    {"clusterAdmin", kCollection, "local", "system.healthlog", kRead},
    {"backup", kCluster, "", "", kBackupCluster},
    {"backup", kCollection, "config", "settings", kBackupConfigSettings},
    {"backup", kAnything, "", "", kBackupAnything},
    {"backup", kAnyDatabase, "", "", kClusterMonitorLocalSystemReplset},
    {"backup", kDatabase, "config", "", kClusterMonitorLocalSystemReplset},
    {"backup", kDatabase, "local", "", kClusterMonitorLocalSystemReplset},
    {"backup", kCollection, "local", "replset.election", kClusterMonitorLocalSystemReplset},
    {"backup", kCollection, "local", "replset.minvalid", kClusterMonitorLocalSystemReplset},
    {"backup", kCollectionOfAnyDatabase, "", "system.js", kClusterMonitorLocalSystemReplset},
    {"backup", kCollectionOfAnyDatabase, "", "system.users", kClusterMonitorLocalSystemReplset},
    {"backup", kCollectionOfAnyDatabase, "", "system.profile", kClusterMonitorLocalSystemReplset},
    {"backup", kCollection, "admin", "system.backup_users", kClusterMonitorLocalSystemReplset},
    {"backup", kCollection, "admin", "system.roles", kClusterMonitorLocalSystemReplset},
    {"backup", kCollection, "admin", "system.version", kClusterMonitorLocalSystemReplset},
    {"restore", kAnyDatabase, "", "", kRestore},
    {"restore", kCollectionOfAnyDatabase, "", "system.js", kRestoreSystemJs},
    {"restore", kAnything, "", "", kRestoreAnything},
    {"restore", kDatabase, "config", "", kRestoreSystemJs},
    {"restore", kCollection, "local", "system.replset", kRestoreSystemJs},
    {"restore", kCollection, "local", "replset.election", kRestoreSystemJs},
    {"restore", kCollection, "local", "replset.minvalid", kRestoreSystemJs},
    {"restore", kDatabase, "local", "", kRestoreSystemJs},
    {"restore", kCollection, "admin", "tempusers", kClusterMonitorLocalSystemReplset},
    {"restore", kCollection, "admin", "temproles", kClusterMonitorLocalSystemReplset},
    {"restore", kCollection, "admin", "system.backup_users", kRestoreSystemJs},
    {"restore", kCollection, "admin", "system.version", kRestoreAdminSystemVersion},
    {"restore", kCollectionOfAnyDatabase, "", "system.users", kRestoreSystemUsers},
    {"restore", kCluster, "", "", kRestoreCluster},
    {"restore", kCollection, "admin", "system.roles", kRestoreAdminSystemRoles},
    {"root", kCluster, "", "", kRootCluster},
    {"root", kAnyDatabase, "", "", kRoot},
    {"root", kDatabase, "config", "", kRootConfig},
    {"root", kCollection, "config", "system.sessions", kClusterMonitor},
    {"root", kDatabase, "local", "", kRootConfig},
    {"root", kCollection, "config", "system.js", kRead},
    {"root", kCollection, "local", "system.js", kRead},
    {"root", kCollection, "local", "system.replset", kRootLocalSystemReplset},
    {"root", kCollection, "local", "replset.election", kRestoreSystemUsers},
    {"root", kCollection, "local", "replset.minvalid", kRestoreSystemUsers},
    {"root", kCollectionOfAnyDatabase, "", "system.profile", kDbAdminSystemProfile},
    {"root", kAnything, "", "", kRootAnything},
    {"root", kCollection, "local", "system.healthlog", kRead},
    {"root", kCollectionOfAnyDatabase, "", "system.users", kRootSystemUsers},
    {"root", kCollection, "admin", "system.users", kUserAdminAnyDatabaseAdminSystemUsers},
    {"root", kCollection, "admin", "system.roles", kUserAdminAnyDatabaseAdminSystemUsers},
    {"root", kCollection, "admin", "system.version", kRootLocalSystemReplset},
    {"root", kCollection, "admin", "system.backup_users", kRootLocalSystemReplset},
    {"root", kCollectionOfAnyDatabase, "", "system.js", kRootSystemJs},
    {"root", kCollection, "config", "settings", kBackupConfigSettings},
    {"root", kCollection, "admin", "tempusers", kClusterMonitorLocalSystemReplset},
    {"root", kCollection, "admin", "temproles", kClusterMonitorLocalSystemReplset},
    {"root", kCollection, "config", "system.preimages", kRootConfigSystemPreimages},
};

constexpr std::array<std::string_view, 6> kOfEachDatabase = {
    "dbAdmin", "dbOwner", "enableSharding", "read", "readWrite", "userAdmin"};

}  // namespace

std::span<const BuiltinGrant> builtin_grants() {
  return kGrants;
}

bool is_of_each_database(std::string_view role) {
  return std::ranges::find(kOfEachDatabase, role) != kOfEachDatabase.end();
}

}  // namespace gridmount::wire
