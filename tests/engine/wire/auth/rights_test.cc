// Goal: no user can read, write, learn or end more than the user's roles permit, whatever the form
// of the request: repeated keys, views, lists of several databases, and access after all users were
// removed.
// Method: clients that authenticate by certificates, one for each role.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "engine/wire/auth/digest.h"
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RightsTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    restart({.authentication = true});
    good(R"({"insert": "c", "documents": [{"_id": 1}]})", "a");
    good(R"({"insert": "c", "documents": [{"_id": 1}]})", "b");
  }

  // Returns an authenticated client with one role.
  std::unique_ptr<Client> with(const std::string& role, const std::string& database) {
    const std::string subject = "CN=" + role + "-" + database;
    const std::string user = R"({"createUser": ")" + subject + R"(", "roles": [{"role": ")" + role +
                             R"(", "db": ")" + database + R"("}]})";
    run(user, "$external");
    Peer peer{.kind = Peer::Kind::kTcp, .address = "10.1.1.1:4000", .is_loopback = false};
    peer.certificate_subject = subject;
    auto client = std::make_unique<Client>(next_id_++, peer);
    EXPECT_EQ(code(*client, R"({"authenticate": 1, "mechanism": "MONGODB-X509"})", "$external"),
              "ok");
    return client;
  }
  std::string code(Client& client, std::string_view command, std::string_view database) {
    const bson::Document reply = run_as(client, command, database);
    return field(reply, "ok") == "1.0" ? "ok" : field(reply, "code");
  }
  std::string aggregate(Client& client, const std::string& stage, std::string_view database,
                        const std::string& collection = "c") {
    return code(
        client,
        R"({"aggregate": ")" + collection + R"(", "cursor": {}, "pipeline": [)" + stage + "]}",
        database);
  }

 private:
  int next_id_ = 100;
};

TEST_F(RightsTest, OptionsOfStagesGivenTwice_AreRefused) {
  const auto ann = with("readWrite", "a");
  const auto lookup = [](const std::string& options) {
    return R"({"$lookup": {)" + options + "}}";
  };
  for (const std::string& stage : {
           std::string(R"({"$merge": {"into": "o", "into": {"db": "b", "coll": "o"}}})"),
           std::string(R"({"$merge": {"into": {"db": "a", "db": "b", "coll": "o"}}})"),
           std::string(R"({"$out": {"db": "a", "db": "b", "coll": "o"}})"),
           std::string(R"({"$unionWith": {"coll": "c", "coll": "d"}})"),
           std::string(R"({"$unionWith": {"coll": "c", "pipeline": [], "pipeline": []}})"),
           std::string(R"({"$graphLookup": {"from": "c", "from": "d", "startWith": 1,
                           "connectFromField": "a", "connectToField": "b", "as": "x"}})"),
           lookup(R"("from": "c", "from": "d", "as": "x", "pipeline": [])"),
           lookup(R"("from": "c", "as": "x", "pipeline": [], "pipeline": [])"),
           R"({"$facet": {"f": [)" + lookup(R"("from": "c", "from": "d", "as": "x",
                                               "pipeline": [])") +
               "]}}",
           std::string(R"({"$collStats": {"count": {}, "count": {}}})"),
           std::string(R"({"$replaceRoot": {"newRoot": {}, "newRoot": {}}})"),
       }) {
    EXPECT_EQ(aggregate(*ann, stage, "a"), "40413") << stage;
  }
  EXPECT_THAT(find("o"), testing::IsEmpty());
}

TEST_F(RightsTest, Pipelines_ReachWhatMayBeReached) {
  const auto ann = with("readWrite", "admin");
  good(R"({"insert": "c", "documents": [{"_id": 1}]})", "admin");
  const std::string lookup = R"({"$lookup": {"from": "system.users", "as": "x", "pipeline": []}})";
  EXPECT_EQ(aggregate(*ann, lookup, "admin"), "13");
  EXPECT_EQ(aggregate(*ann, R"({"$facet": {"f": [)" + lookup + "]}}", "admin"), "13");
  EXPECT_EQ(
      aggregate(*ann, R"({"$unionWith": {"coll": "c", "pipeline": [)" + lookup + "]}}", "admin"),
      "13");
  EXPECT_EQ(aggregate(*ann, R"({"$unionWith": "system.users"})", "admin"), "13");
  EXPECT_EQ(aggregate(*ann, R"({"$graphLookup": {"from": "system.users", "startWith": 1, "as": "x",
                                "connectFromField": "a", "connectToField": "b"}})",
                      "admin"),
            "13");
  EXPECT_EQ(code(*ann,
                 R"({"explain": {"aggregate": "c", "cursor": {}, "pipeline": [)" + lookup +
                     R"(]}, "verbosity": "queryPlanner"})",
                 "admin"),
            "13");
  EXPECT_EQ(aggregate(*ann, R"({"$merge": {"into": {"db": "b", "coll": "o"}}})", "admin"), "13");
  EXPECT_EQ(aggregate(*ann, R"({"$unionWith": "c"})", "admin"), "ok");
  EXPECT_EQ(aggregate(*ann, R"({"$out": "o"})", "admin"), "ok");
}

TEST_F(RightsTest, Views_OfTheServersOwnCollections_AreNotMade) {
  good(R"({"create": "plain", "viewOn": "c", "pipeline": []})", "admin");
  for (const char* const source : {"system.users", "system.profile", "system.version"}) {
    const std::string on = source;
    EXPECT_EQ(code_of(R"({"create": "v", "viewOn": ")" + on + R"(", "pipeline": []})", "admin"),
              73);
    EXPECT_EQ(code_of(R"({"create": "v", "viewOn": "c", "pipeline": [{"$lookup": {"from": ")" + on +
                          R"(", "as": "x", "pipeline": []}}]})",
                      "admin"),
              73);
    EXPECT_EQ(
        code_of(R"({"collMod": "plain", "viewOn": ")" + on + R"(", "pipeline": []})", "admin"), 73);
  }
  good(R"({"create": "scripts", "viewOn": "system.js", "pipeline": []})", "admin");
}

// The role restore may read admin.tempusers, and no other collection of that database.
TEST_F(RightsTest, Views_AreReadWithTheRightsOfTheReader) {
  good(R"({"insert": "things", "documents": [{"_id": 1}]})", "admin");
  good(R"({"create": "tempusers", "viewOn": "things", "pipeline": []})", "admin");
  const auto reader = with("restore", "admin");
  const auto admin = with("root", "admin");
  for (const std::string& command :
       {std::string(R"({"find": "tempusers"})"), std::string(R"({"count": "tempusers"})"),
        std::string(R"({"distinct": "tempusers", "key": "_id"})"),
        std::string(R"({"explain": {"find": "tempusers"}})"),
        std::string(R"({"aggregate": "tempusers", "pipeline": [], "cursor": {}})")}) {
    EXPECT_EQ(code(*reader, command, "admin"), "13") << command;
    EXPECT_EQ(code(*admin, command, "admin"), "ok") << command;
  }
  good(R"({"drop": "tempusers"})", "admin");
  good(R"({"insert": "tempusers", "documents": [{"_id": 1}]})", "admin");
  EXPECT_EQ(code(*reader, R"({"find": "tempusers"})", "admin"), "ok");
  // The rights for the collections that a view of that name joins are needed as well.
  good(R"({"drop": "tempusers"})", "admin");
  good(R"({"create": "tempusers", "viewOn": "system.js", "pipeline": [{"$unionWith": "things"}]})",
       "admin");
  EXPECT_EQ(code(*reader, R"({"find": "tempusers"})", "admin"), "13");
}

TEST_F(RightsTest, UsersInfo_TakesTheRightInEachDatabaseAskedFor) {
  const auto ann = with("userAdmin", "a");
  good(R"({"createUser": "eve", "pwd": "secret", "roles": []})", "b");
  good(R"({"createUser": "joe", "pwd": "secret", "roles": []})", "a");
  const std::string eve = R"({"user": "eve", "db": "b"})";
  const std::string joe = R"({"user": "joe", "db": "a"})";
  for (const std::string& asked :
       {eve, "[" + joe + ", " + eve + "]", std::string(R"({"forAllDBs": true})")}) {
    EXPECT_EQ(code(*ann, R"({"usersInfo": )" + asked + R"(, "showCredentials": true})", "a"), "13")
        << asked;
  }
  EXPECT_EQ(code(*ann, R"({"usersInfo": )" + joe + "}", "b"), "ok");
  EXPECT_EQ(code(*ann, R"({"usersInfo": {"user": "CN=userAdmin-a", "db": "$external"}})", "b"),
            "ok");
  EXPECT_EQ(code(*ann, R"({"rolesInfo": {"role": "read", "db": "b"}})", "a"), "13");
  EXPECT_EQ(code(*ann, R"({"rolesInfo": {"role": "read", "db": "a"}})", "b"), "ok");
}

TEST_F(RightsTest, Privileges_AreShownAsServersDo) {
  const auto ann = with("read", "a");
  const bson::Document status =
      run_as(*ann, R"({"connectionStatus": 1, "showPrivileges": true})", "admin");
  const std::string read =
      R"({ "resource" : { "db" : "a", "collection" : "" }, "actions" : [ "changeStream", )"
      R"("collStats", "dbHash", "dbStats", "find", "killCursors", "listCollections", )"
      R"("listIndexes", "planCacheRead" ] })";
  EXPECT_EQ(field(status, "authInfo.authenticatedUserPrivileges.0"), read);
  EXPECT_EQ(field(run(R"({"connectionStatus": 1, "showPrivileges": true})", "admin"),
                  "authInfo.authenticatedUserPrivileges"),
            "[  ]");
  EXPECT_THAT(good(R"({"rolesInfo": "read", "showPrivileges": true})", "a"), HasSubstr(read));
  const std::string user = R"({"user": "CN=read-a", "db": "$external"})";
  EXPECT_EQ(good(R"({"rolesInfo": "read"})", "a", "roles"),
            R"([ { "role" : "read", "db" : "a", "isBuiltin" : true, "roles" : [  ], )"
            R"("inheritedRoles" : [  ] } ])");
  EXPECT_THAT(good(R"({"usersInfo": )" + user + R"(, "showPrivileges": true})", "a"),
              HasSubstr(R"("inheritedPrivileges" : [ )" + read));
  EXPECT_EQ(code_of(R"({"usersInfo": 1, "showPrivileges": true})", "a"), 20);
  EXPECT_THAT(good(R"({"usersInfo": 1, "filter": {"user": "nobody"}})", "$external"),
              Not(HasSubstr("CN=read-a")));
}

TEST_F(RightsTest, Users_AreNotDroppedWithTheirDatabase) {
  const auto ann = with("root", "admin");
  for (const char* const command :
       {R"({"dropDatabase": 1})", R"({"drop": "system.users"})", R"({"drop": "system.version"})"}) {
    EXPECT_EQ(code(*ann, command, "admin"), "20") << command;
  }
  for (const char* const from : {"admin.system.users", "admin.system.version"}) {
    EXPECT_EQ(code(*ann, std::string(R"({"renameCollection": ")") + from + R"(", "to": "a.gone"})",
                   "admin"),
              "20");
  }
  EXPECT_EQ(code(*ann, R"({"dropDatabase": 1})", "a"), "ok");
}

// Removing all users must not give access to everybody on this machine.
TEST_F(RightsTest, LocalhostException_DoesNotComeBack) {
  const auto tries = [&] {
    Client local(7, {.kind = Peer::Kind::kTcp, .address = "127.0.0.1:5", .is_loopback = true});
    return code(local, R"({"createUser": "me", "pwd": "x", "roles": ["root"]})", "admin");
  };
  good(R"({"insert": "system.users", "documents": [{"_id": "admin.eve", "user": "eve",
           "db": "admin", "credentials": {}, "roles": []}]})",
       "admin");
  good(R"({"delete": "system.users", "deletes": [{"q": {}, "limit": 0}]})", "admin");
  EXPECT_EQ(tries(), "13");
  restart({.authentication = true});
  EXPECT_EQ(tries(), "13");
  with("root", "admin");
  good(R"({"dropAllUsersFromDatabase": 1})", "$external");
  restart({.authentication = true});
  EXPECT_EQ(tries(), "13");
}

TEST_F(RightsTest, LocalhostException_IsThereInAFreshStore) {
  Client local(7, {.kind = Peer::Kind::kTcp, .address = "127.0.0.1:5", .is_loopback = true});
  EXPECT_EQ(code(local, R"({"createUser": "me", "pwd": "x", "roles": ["root"]})", "admin"), "ok");
}

// Two users have a cursor each, in sessions with the same id.
class SessionRightsTest : public RightsTest {
 protected:
  static constexpr std::string_view kId =
      R"("id": {"$uuid": "11111111-2222-4333-8444-555555555555"})";

  void SetUp() override {
    RightsTest::SetUp();
    for (const char* const database : {"a", "b"}) {
      good(R"({"insert": "many", "documents": [{}, {}, {}, {}]})", database);
    }
    ann_ = with("read", "a");
    bob_ = with("read", "b");
    root_ = with("root", "admin");
  }

  static std::string user_of(const std::string& database) {
    return R"({"user": "CN=read-)" + database + R"(", "db": "$external"})";
  }
  // Returns the field `uid` for the user with the role read in that database.
  static std::string uid_of(const std::string& database) {
    const std::string bytes =
        *digest(DigestAlgorithm::kSha256, "CN=read-" + database + "@$external");
    return R"("uid": {"$binary": {"base64": ")" + to_base64(bytes) + R"(", "subType": "00"}})";
  }
  // Opens a cursor for each of the two users, runs the command, and returns the users whose cursors
  // are left.
  std::string left_after(Client& client, const std::string& command,
                         const std::string& expected = "ok") {
    const std::string lsid = R"("lsid": {)" + std::string(kId) + "}";
    const std::string find = R"({"find": "many", "batchSize": 1, )" + lsid + "}";
    const int64_t anns = cursor_id(run_as(*ann_, find, "a"));
    const int64_t bobs = cursor_id(run_as(*bob_, find, "b"));
    EXPECT_EQ(code(client, command, "admin"), expected) << command;
    const auto more = [&](int64_t id) {
      return R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
             R"("}, "collection": "many", "batchSize": 1, )" + lsid + "}";
    };
    std::string left;
    if (code(*ann_, more(anns), "a") == "ok") left += "ann ";
    if (code(*bob_, more(bobs), "b") == "ok") left += "bob ";
    return left;
  }

  std::unique_ptr<Client> ann_;
  std::unique_ptr<Client> bob_;
  std::unique_ptr<Client> root_;
};

TEST_F(SessionRightsTest, KillAllSessions_EndsThoseOfTheUsersNamed) {
  const auto kill = [](const std::string& users) {
    return R"({"killAllSessions": [)" + users + "]}";
  };
  EXPECT_EQ(left_after(*root_, kill(user_of("a"))), "bob ");
  EXPECT_EQ(left_after(*root_, kill(user_of("b"))), "ann ");
  EXPECT_EQ(left_after(*root_, kill(user_of("a") + ", " + user_of("b"))), "");
  EXPECT_EQ(left_after(*root_, kill("")), "");
  const std::string nobody = R"({"user": "nobody", "db": "admin"})";
  EXPECT_EQ(left_after(*root_, kill(user_of("a") + ", " + nobody), "11"), "ann bob ");
  EXPECT_EQ(bad(kill(nobody), "admin"), R"(11: Could not find user "nobody" for db "admin")");
  EXPECT_EQ(left_after(*ann_, kill(user_of("a")), "13"), "ann bob ");
}

TEST_F(SessionRightsTest, KillAllSessionsByPattern_EndsThoseThatMatch) {
  const auto kill = [](const std::string& pattern) {
    return R"({"killAllSessionsByPattern": [)" + pattern + "]}";
  };
  const std::string id(kId);
  const std::string other = R"("id": {"$uuid": "11111111-2222-4333-8444-000000000000"})";
  EXPECT_EQ(left_after(*root_, kill("{" + uid_of("a") + "}")), "bob ");
  EXPECT_EQ(left_after(*root_, kill("{" + uid_of("nobody") + "}")), "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(R"({"lsid": {)" + id + ", " + uid_of("b") + "}}")), "ann ");
  EXPECT_EQ(left_after(*root_, kill(R"({"lsid": {)" + other + ", " + uid_of("b") + "}}")),
            "ann bob ");
  EXPECT_EQ(left_after(*root_,
                       kill(R"({"lsid": {)" + id + ", " + uid_of("b") + "}, " + uid_of("a") + "}")),
            "bob ");
  EXPECT_EQ(left_after(*root_, kill("{}")), "");
  EXPECT_EQ(left_after(*root_, kill("")), "");

  EXPECT_EQ(left_after(*root_, kill(R"({"lsid": {)" + id + "}}"), "40414"), "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(R"({"uid": {"$binary": {"base64": "YWJj", "subType": "00"}}})"),
                       "12"),
            "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(R"({"uid": "abc"})"), "14"), "ann bob ");
  // No built-in role may act in the name of others.
  for (const std::string& named :
       {R"({"users": [)" + user_of("a") + "]}", std::string(R"({"users": []})"),
        std::string(R"({"roles": [{"role": "read", "db": "a"}]})"),
        "{" + uid_of("a") + R"(, "roles": []})"}) {
    EXPECT_EQ(left_after(*root_, kill(named), "13"), "ann bob ") << named;
  }
  EXPECT_EQ(left_after(*root_, kill(R"({"users": [1]})"), "14"), "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(R"({"users": [{"user": "x"}]})"), "40414"), "ann bob ");
}

TEST_F(SessionRightsTest, KillSessions_EndsThoseOfTheOwnUser) {
  const auto kill = [](const std::string& sessions) {
    return R"({"killSessions": [)" + sessions + "]}";
  };
  const std::string session = "{" + std::string(kId) + "}";
  const std::string anns = "{" + std::string(kId) + ", " + uid_of("a") + "}";
  EXPECT_EQ(left_after(*ann_, kill(session)), "bob ");
  EXPECT_EQ(left_after(*ann_, kill(anns)), "bob ");
  EXPECT_EQ(left_after(*ann_, kill("")), "bob ");
  EXPECT_EQ(left_after(*bob_, kill(session)), "ann ");
  EXPECT_EQ(left_after(*bob_, kill(anns), "13"), "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(session)), "ann bob ");
  EXPECT_EQ(left_after(*root_, kill(anns)), "bob ");
  EXPECT_EQ(left_after(*root_, kill("")), "ann bob ");
}

TEST_F(SessionRightsTest, EndSessions_EndsThoseOfTheOwnUser_AlsoIfAnotherHasUsedTheIdFirst) {
  const std::string end = R"({"endSessions": [{)" + std::string(kId) + "}]}";
  EXPECT_EQ(left_after(*bob_, end), "ann ");
  EXPECT_EQ(left_after(*ann_, end), "bob ");
  EXPECT_EQ(left_after(*root_, end), "ann bob ");
  for (const char* const command : {"endSessions", "refreshSessions"}) {
    const std::string of_ann =
        R"({")" + std::string(command) + R"(": [{)" + std::string(kId) + ", " + uid_of("a") + "}]}";
    EXPECT_EQ(left_after(*bob_, of_ann, "13"), "ann bob ") << command;
    EXPECT_EQ(left_after(*root_, of_ann, "13"), "ann bob ") << command;
  }
}

TEST_F(SessionRightsTest, RefreshSessions_OfAnotherUser_KeepsTheSessionOfThatUser) {
  const std::string lsid = R"("lsid": {)" + std::string(kId) + "}";
  const std::string find =
      R"({"find": "many", "batchSize": 1, "noCursorTimeout": true, )" + lsid + "}";
  const int64_t anns = cursor_id(run_as(*ann_, find, "a"));
  const int64_t bobs = cursor_id(run_as(*bob_, find, "b"));
  const auto idle_since = std::chrono::steady_clock::now();
  // Clients without a connection over TCP have every privilege.
  good(R"({"refreshSessions": [{)" + std::string(kId) + ", " + uid_of("a") + "}]}", "admin");
  service().expire(idle_since + ServiceOptions().session_idle_max);
  const auto more = [&](int64_t id) {
    return R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
           R"("}, "collection": "many", )" + lsid + "}";
  };
  EXPECT_EQ(code(*ann_, more(anns), "a"), "ok");
  EXPECT_EQ(code(*bob_, more(bobs), "b"), "43");
}

// Without authentication, sessions belong to nobody.
TEST_F(RightsTest, Sessions_WithoutLogIns_AreOfNoUser) {
  restart({});
  run(R"({"createUser": "ann", "pwd": "secret", "roles": []})", "admin");
  insert_numbered("c", 5);
  const std::string lsid = R"("lsid": {"id": {"$uuid": "11111111-2222-4333-8444-555555555555"}})";
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1, )" + lsid + "}"));
  const std::string more = R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
                           R"("}, "collection": "c", "batchSize": 1, )" + lsid + "}";
  good(R"({"killAllSessions": [{"user": "ann", "db": "admin"}]})", "admin");
  EXPECT_EQ(field(run(more), "ok"), "1.0");
  good(R"({"killAllSessionsByPattern": [{"uid": {"$binary": {"base64": ")" +
           to_base64(*digest(DigestAlgorithm::kSha256, "")) + R"(", "subType": "00"}}}]})",
       "admin");
  EXPECT_EQ(code_of(more), 43);
}

// The server's own state is read when the cursor is opened, but each getMore checks the privilege.
TEST_F(RightsTest, CursorOverTheServersState_EndsWithThePrivilege) {
  const std::string role = R"([{"role": "clusterMonitor", "db": "admin"}])";
  for (const std::string stage : {R"({"$currentOp": {}})", R"({"$listLocalSessions": {}})"}) {
    const auto monitor = with("clusterMonitor", "admin");
    const int64_t id = cursor_id(run_as(
        *monitor, R"({"aggregate": 1, "cursor": {"batchSize": 0}, "pipeline": [)" + stage + "]}",
        "admin"));
    const std::string more = R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
                             R"("}, "collection": "$cmd.aggregate"})";
    const std::string user = R"(User": "CN=clusterMonitor-admin", "roles": )" + role + "}";
    good(R"({"revokeRolesFrom)" + user, "$external");
    EXPECT_EQ(code(*monitor, more, "admin"), "13") << stage;
    good(R"({"grantRolesTo)" + user, "$external");
  }
}

TEST_F(RightsTest, EmptyListsOfRoles_AreNotGranted) {
  const auto ann = with("read", "a");
  good(R"({"createUser": "joe", "pwd": "secret", "roles": []})", "a");
  EXPECT_EQ(code(*ann, R"({"grantRolesToUser": "joe", "roles": []})", "a"), "2");
  EXPECT_EQ(code(*ann, R"({"revokeRolesFromUser": "joe", "roles": []})", "a"), "2");
  EXPECT_EQ(code(*ann, R"({"updateUser": "joe", "roles": []})", "a"), "13");
  const auto admin = with("userAdmin", "a");
  EXPECT_EQ(code(*admin, R"({"updateUser": "joe", "roles": []})", "a"), "13");
}

TEST_F(RightsTest, RenameCollection_TakesWhatItDoes) {
  const auto ann = with("readWrite", "a");
  EXPECT_EQ(code(*ann, R"({"renameCollection": "a.c", "to": "a.d", "dropTarget": 1})", "admin"),
            "14");
  EXPECT_EQ(code(*ann, R"({"renameCollection": "a.c", "to": "b.d"})", "admin"), "13");
  EXPECT_EQ(code(*ann, R"({"renameCollection": "b.c", "to": "a.d"})", "admin"), "13");
  EXPECT_EQ(code(*ann, R"({"renameCollection": "a.c", "to": "a.d"})", "admin"), "ok");
  const auto admin = with("dbAdmin", "a");
  EXPECT_EQ(code(*admin, R"({"renameCollection": "a.d", "to": "a.c"})", "admin"), "ok");
}

}  // namespace
}  // namespace gridmount::wire
