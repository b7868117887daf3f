// Goal: each built-in role permits what the manual's table says, and nothing else.
#include "engine/wire/auth/role.h"

#include <gtest/gtest.h>

namespace gridmount::wire {
namespace {

Permissions with(std::initializer_list<Role> roles) {
  return Permissions(std::vector<Role>(roles));
}

TEST(Role, Read_ReadsOneDatabase) {
  const Permissions read = with({{"read", "shop"}});
  EXPECT_TRUE(read.on_collection("find", "shop", "orders"));
  EXPECT_TRUE(read.on_collection("listIndexes", "shop", "orders"));
  EXPECT_TRUE(read.on_database("dbStats", "shop"));
  EXPECT_FALSE(read.on_collection("insert", "shop", "orders"));
  EXPECT_FALSE(read.on_collection("find", "other", "orders"));
  EXPECT_FALSE(read.on_collection("find", "shop", "system.profile"));
  EXPECT_FALSE(read.on_cluster("listDatabases"));
  EXPECT_TRUE(read.any_on("shop"));
  EXPECT_FALSE(read.any_on("other"));
}

TEST(Role, ReadWrite_WritesDocumentsAndIndexes) {
  const Permissions write = with({{"readWrite", "shop"}});
  for (const char* action :
       {"find", "insert", "update", "remove", "createIndex", "dropCollection"}) {
    EXPECT_TRUE(write.on_collection(action, "shop", "orders")) << action;
  }
  for (const char* action : {"bypassDocumentValidation", "collMod", "createUser", "dropDatabase"}) {
    EXPECT_FALSE(write.on_collection(action, "shop", "orders")) << action;
  }
}

TEST(Role, DbAdmin_ReadsNoDocuments) {
  const Permissions admin = with({{"dbAdmin", "shop"}});
  EXPECT_TRUE(admin.on_collection("collMod", "shop", "orders"));
  EXPECT_TRUE(admin.on_collection("bypassDocumentValidation", "shop", "orders"));
  EXPECT_TRUE(admin.on_database("dropDatabase", "shop"));
  EXPECT_TRUE(admin.on_collection("find", "shop", "system.profile"));
  EXPECT_FALSE(admin.on_collection("find", "shop", "orders"));
  EXPECT_FALSE(admin.on_database("createUser", "shop"));
}

TEST(Role, DbOwner_IsAllThreeOfItsDatabase) {
  const Permissions owner = with({{"dbOwner", "shop"}});
  for (const char* action : {"find", "insert", "collMod", "createUser", "grantRole"}) {
    EXPECT_TRUE(owner.on_database(action, "shop")) << action;
    EXPECT_FALSE(owner.on_database(action, "other")) << action;
  }
}

TEST(Role, AnyDatabase_LeavesOutWhatIsInternal) {
  const Permissions any = with({{"readWriteAnyDatabase", "admin"}});
  EXPECT_TRUE(any.on_collection("insert", "shop", "orders"));
  EXPECT_TRUE(any.on_cluster("listDatabases"));
  EXPECT_FALSE(any.on_collection("insert", "local", "x"));
  EXPECT_FALSE(any.on_collection("find", "admin", "system.users"));
  // These roles exist only in admin. Other databases have no roles of these names.
  EXPECT_FALSE(with({{"readWriteAnyDatabase", "shop"}}).on_collection("find", "shop", "orders"));
  EXPECT_FALSE(is_builtin_role({"root", "shop"}));
  EXPECT_TRUE(is_builtin_role({"root", "admin"}));
  EXPECT_FALSE(is_builtin_role({"nosuch", "admin"}));
}

TEST(Role, UserAdminAnyDatabase_SeesUsersAndNoOtherDocuments) {
  const Permissions admin = with({{"userAdminAnyDatabase", "admin"}});
  EXPECT_TRUE(admin.on_database("createUser", "shop"));
  EXPECT_TRUE(admin.on_collection("find", "admin", "system.users"));
  EXPECT_FALSE(admin.on_collection("find", "shop", "orders"));
  EXPECT_FALSE(admin.on_collection("insert", "admin", "system.users"));
}

TEST(Role, BackupAndRestore_ReachSystemCollections) {
  const Permissions backup = with({{"backup", "admin"}});
  EXPECT_TRUE(backup.on_collection("find", "admin", "system.users"));
  EXPECT_TRUE(backup.on_collection("find", "shop", "orders"));
  EXPECT_FALSE(backup.on_collection("insert", "shop", "orders"));
  const Permissions restore = with({{"restore", "admin"}});
  EXPECT_TRUE(restore.on_collection("insert", "shop", "orders"));
  EXPECT_TRUE(restore.on_collection("insert", "admin", "system.users"));
  EXPECT_TRUE(restore.on_collection("bypassDocumentValidation", "shop", "orders"));
  EXPECT_FALSE(restore.on_collection("find", "shop", "orders"));
}

TEST(Role, Root_MayDoEverythingElse) {
  const Permissions root = with({{"root", "admin"}});
  for (const char* action :
       {"find", "insert", "collMod", "createUser", "dropDatabase", "validate"}) {
    EXPECT_TRUE(root.on_database(action, "shop")) << action;
  }
  for (const char* action :
       {"serverStatus", "shutdown", "killop", "fsync", "listDatabases", "top"}) {
    EXPECT_TRUE(root.on_cluster(action)) << action;
  }
  EXPECT_FALSE(with({}).on_database("find", "shop"));
}

}  // namespace
}  // namespace gridmount::wire
