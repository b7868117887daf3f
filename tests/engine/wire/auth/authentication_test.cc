// Goal: TCP clients authenticate as drivers do, and may do what their roles permit and nothing
// else. The store's own socket needs no authentication.
// Method: a SCRAM client written from the RFC, against a service on a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/wire/auth/digest.h"
#include "engine/wire/auth/login_throttle.h"
#include "tests/engine/wire/commands/service_test.h"

namespace gridmount::wire {
namespace {

using ::testing::HasSubstr;

std::string value_of(std::string_view message, std::string_view name) {
  const size_t at = message.find(name);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + name.size();
  return std::string(message.substr(begin, message.find(',', begin) - begin));
}

// The client's side of SCRAM-SHA-256.
class Proof {
 public:
  Proof(std::string user, std::string password)
      : bare_("n=" + std::move(user) + ",r=clientnonce"), password_(std::move(password)) {}

  std::string first() const { return "n,," + bare_; }
  std::string last(const std::string& challenge) {
    const std::string without = "c=biws,r=" + value_of(challenge, "r=");
    const std::string salted =
        *derive_key(DigestAlgorithm::kSha256, password_, *from_base64(value_of(challenge, "s=")),
                    std::stoi(value_of(challenge, "i=")));
    const std::string key = *keyed_digest(DigestAlgorithm::kSha256, salted, "Client Key");
    const std::string exchange = bare_ + "," + challenge + "," + without;
    std::string proof =
        *keyed_digest(DigestAlgorithm::kSha256, *digest(DigestAlgorithm::kSha256, key), exchange);
    for (size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ key[i]);
    signature_ = to_base64(
        *keyed_digest(DigestAlgorithm::kSha256,
                      *keyed_digest(DigestAlgorithm::kSha256, salted, "Server Key"), exchange));
    return without + ",p=" + to_base64(proof);
  }
  // The signature that the server must return.
  std::string signature() const { return "v=" + signature_; }

 private:
  const std::string bare_;
  const std::string password_;
  std::string signature_;
};

std::string payload_of(bson::View reply) {
  const std::optional<bson::ValueView> payload = reply.find("payload");
  if (!payload) return {};
  const bson::Binary bytes = payload->as_binary();
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

std::string binary(const std::string& text) {
  return R"({"$binary": {"base64": ")" + to_base64(text) + R"(", "subType": "00"}})";
}

class AuthenticationTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    restart({.authentication = true});
  }

  static Peer remote(const std::string& address = "10.1.1.1:4000") {
    return {.kind = Peer::Kind::kTcp, .address = address, .is_loopback = false};
  }
  void make_user(const std::string& name, const std::string& role, const std::string& database) {
    good(R"({"createUser": ")" + name + R"(", "pwd": "secret", "roles": [")" + role + R"("]})",
         database);
  }
  bson::Document start(Client& client, const Proof& proof, const std::string& database,
                       bool skips = true) {
    return run_as(client,
                  R"({"saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": )" +
                      binary(proof.first()) + R"(, "options": {"skipEmptyExchange": )" +
                      (skips ? "true" : "false") + "}}",
                  database);
  }
  bson::Document proceed(Client& client, int id, const std::string& payload,
                         const std::string& database) {
    return run_as(client,
                  R"({"saslContinue": 1, "conversationId": )" + std::to_string(id) +
                      R"(, "payload": )" + binary(payload) + "}",
                  database);
  }
  // Returns the code of the failure, or 0 on success.
  int log_in(Client& client, const std::string& user, const std::string& password,
             const std::string& database = "admin") {
    Proof proof(user, password);
    const bson::Document challenge = start(client, proof, database);
    if (field(challenge, "ok") != "1.0") return std::stoi(field(challenge, "code"));
    const bson::Document answer = proceed(client, 1, proof.last(payload_of(challenge)), database);
    if (field(answer, "ok") != "1.0") return std::stoi(field(answer, "code"));
    EXPECT_EQ(payload_of(answer), proof.signature());
    EXPECT_EQ(field(answer, "done"), "true");
    return 0;
  }
  std::string code(Client& client, std::string_view command, std::string_view database = "test") {
    const bson::Document reply = run_as(client, command, database);
    return field(reply, "ok") == "1.0" ? "ok" : field(reply, "code");
  }
};

TEST_F(AuthenticationTest, BeforeLogIn_OnlyTheHandshakeIsAnswered) {
  make_user("root", "root", "admin");
  Client client(7, remote());
  EXPECT_EQ(code(client, R"({"hello": 1})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"ping": 1})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"buildInfo": 1})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"connectionStatus": 1})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"find": "c"})"), "13");
  EXPECT_EQ(code(client, R"({"insert": "c", "documents": [{"a": 1}]})"), "13");
  EXPECT_EQ(code(client, R"({"listDatabases": 1})", "admin"), "13");
  EXPECT_EQ(code(client, R"({"usersInfo": 1})", "admin"), "13");
  EXPECT_EQ(code(client, R"({"nosuch": 1})"), "59");
}

// A user who may not read a database may not compute anything there either.
TEST_F(AuthenticationTest, PipelinesWithoutACollection_TakeTheRightToFind) {
  make_user("root", "root", "admin");
  make_user("ann", "read", "shop");
  good(R"({"createUser": "nobody", "pwd": "secret", "roles": []})", "shop");
  constexpr std::string_view kDocuments = R"({"aggregate": 1, "cursor": {},
      "pipeline": [{"$documents": [{"a": {"$add": [1, 2]}}]}]})";
  constexpr std::string_view kNone = R"({"aggregate": 1, "pipeline": [], "cursor": {}})";
  Client stranger(7, remote());
  EXPECT_EQ(code(stranger, kDocuments, "shop"), "13");
  Client nobody(8, remote());
  ASSERT_EQ(log_in(nobody, "nobody", "secret", "shop"), 0);
  EXPECT_EQ(code(nobody, kDocuments, "shop"), "13");
  EXPECT_EQ(code(nobody, kNone, "shop"), "13");
  EXPECT_EQ(code(nobody,
                 R"({"explain": {"aggregate": 1, "cursor": {},
                                 "pipeline": [{"$documents": [{"a": 1}]}]}})",
                 "shop"),
            "13");
  Client ann(9, remote());
  ASSERT_EQ(log_in(ann, "ann", "secret", "shop"), 0);
  EXPECT_EQ(code(ann, kDocuments, "shop"), "ok");
  EXPECT_EQ(code(ann, kDocuments, "admin"), "13");
}

TEST_F(AuthenticationTest, TheStoresSocket_NeedsNoLogIn) {
  make_user("root", "root", "admin");
  Client client(7, {.kind = Peer::Kind::kSocket, .address = "gridmount.sock:1"});
  EXPECT_EQ(code(client, R"({"insert": "c", "documents": [{"a": 1}]})"), "ok");
}

TEST_F(AuthenticationTest, LogIn_GivesTheRolesOfTheUser) {
  make_user("ann", "readWrite", "shop");
  Client client(7, remote());
  ASSERT_EQ(log_in(client, "ann", "secret", "shop"), 0);
  EXPECT_EQ(code(client, R"({"insert": "c", "documents": [{"a": 1}]})", "shop"), "ok");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "ok");
  EXPECT_EQ(code(client, R"({"find": "c"})", "other"), "13");
  EXPECT_EQ(code(client, R"({"dropDatabase": 1})", "shop"), "13");
  EXPECT_EQ(code(client, R"({"insert": "c", "documents": [{"a": 1}],
                             "bypassDocumentValidation": true})",
                 "shop"),
            "13");
  EXPECT_EQ(code(client, R"({"aggregate": "c", "cursor": {}, "pipeline": [{"$lookup": {
                             "from": "c", "as": "d", "localField": "a", "foreignField": "a"}}]})",
                 "shop"),
            "ok");
  EXPECT_EQ(code(client, R"({"aggregate": "c", "cursor": {},
                             "pipeline": [{"$out": {"db": "other", "coll": "x"}}]})",
                 "shop"),
            "13");
  const bson::Document status = run_as(client, R"({"connectionStatus": 1})", "admin");
  EXPECT_EQ(field(status, "authInfo.authenticatedUsers.0.user"), "\"ann\"");
  EXPECT_EQ(field(status, "authInfo.authenticatedUserRoles.0.role"), "\"readWrite\"");
  // Databases that the user may not see are not listed.
  const bson::Document names = run_as(client, R"({"listDatabases": 1, "nameOnly": true})", "admin");
  EXPECT_EQ(field(names, "databases"), R"([ { "name" : "shop" } ])");

  EXPECT_EQ(code(client, R"({"logout": 1})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "13");
}

std::string get_more(int64_t id, const std::string& rest = "") {
  return R"({"getMore": {"$numberLong": ")" + std::to_string(id) + R"("}, "collection": "c")" +
         rest + "}";
}

std::string kill(int64_t id) {
  return R"({"killCursors": "c", "cursors": [{"$numberLong": ")" + std::to_string(id) + R"("}]})";
}

TEST_F(AuthenticationTest, Cursors_AreTheirMakersAlone) {
  make_user("ann", "readWrite", "shop");
  make_user("bob", "readWrite", "shop");
  make_user("host", "hostManager", "admin");
  Client ann(7, remote());
  Client bob(8, remote("10.1.1.2:1"));
  Client host(9, remote("10.1.1.3:1"));
  ASSERT_EQ(log_in(ann, "ann", "secret", "shop"), 0);
  ASSERT_EQ(log_in(bob, "bob", "secret", "shop"), 0);
  ASSERT_EQ(log_in(host, "host", "secret"), 0);
  ASSERT_EQ(code(ann, R"({"insert": "c", "documents": [{}, {}, {}, {}]})", "shop"), "ok");
  const auto open = [&] {
    return cursor_id(run_as(ann, R"({"find": "c", "batchSize": 1})", "shop"));
  };
  const int64_t id = open();
  EXPECT_EQ(code(bob, get_more(id), "shop"), "13");
  EXPECT_EQ(code(bob, kill(id), "shop"), "13");
  EXPECT_EQ(code(ann, get_more(id, R"(, "batchSize": 1)"), "shop"), "ok");
  // The same user on another connection, and a user who may kill any cursor.
  Client again(10, remote("10.1.1.4:1"));
  EXPECT_EQ(code(again, get_more(id), "shop"), "13");
  ASSERT_EQ(log_in(again, "ann", "secret", "shop"), 0);
  EXPECT_EQ(code(again, get_more(id, R"(, "batchSize": 1)"), "shop"), "ok");
  EXPECT_EQ(code(again, kill(id), "shop"), "ok");
  EXPECT_EQ(code(host, kill(open()), "shop"), "ok");
  // A user who lost the right to open the cursor may not continue to read it.
  const int64_t orphan = open();
  good(R"({"revokeRolesFromUser": "ann", "roles": ["readWrite"]})", "shop");
  EXPECT_EQ(code(ann, get_more(orphan), "shop"), "13");
  // A cursor opened by the owner of the store belongs to nobody else.
  const int64_t owners = cursor_id(run(R"({"find": "c", "batchSize": 1})", "shop"));
  EXPECT_EQ(code(bob, get_more(owners), "shop"), "13");
  EXPECT_EQ(code(bob, get_more(12345), "shop"), "43");
}

TEST_F(AuthenticationTest, ListCollections_ShowsWhatTheClientMayUse) {
  good(R"({"insert": "c", "documents": [{}]})", "shop");
  good(R"({"create": "system.profile", "capped": true, "size": 4096})", "shop");
  make_user("ann", "read", "shop");
  make_user("bob", "userAdmin", "shop");
  make_user("eve", "read", "other");
  Client ann(7, remote());
  Client bob(8, remote("10.1.1.2:1"));
  Client eve(9, remote("10.1.1.3:1"));
  ASSERT_EQ(log_in(ann, "ann", "secret", "shop"), 0);
  ASSERT_EQ(log_in(bob, "bob", "secret", "shop"), 0);
  ASSERT_EQ(log_in(eve, "eve", "secret", "other"), 0);
  const std::string all = R"({"listCollections": 1, "nameOnly": true})";
  const std::string own =
      R"({"listCollections": 1, "nameOnly": true, "authorizedCollections": true})";
  const auto names = [&](Client& client, const std::string& command) {
    return batch(run_as(client, command, "shop")).size();
  };
  EXPECT_EQ(names(ann, all), 2U);
  EXPECT_EQ(names(ann, own), 1U);
  EXPECT_EQ(code(bob, all, "shop"), "13");
  EXPECT_EQ(names(bob, own), 1U);
  EXPECT_EQ(code(eve, own, "shop"), "13");
  Client nobody(10, remote("10.1.1.4:1"));
  EXPECT_EQ(code(nobody, own, "shop"), "13");
}

// mongorestore and administrators write users directly, not by the commands for users.
TEST_F(AuthenticationTest, UsersWrittenDirectly_AreNoticed) {
  make_user("root", "root", "admin");
  make_user("ann", "read", "shop");
  Client root(7, remote());
  Client ann(8, remote("10.1.1.2:1"));
  ASSERT_EQ(log_in(root, "root", "secret"), 0);
  ASSERT_EQ(log_in(ann, "ann", "secret", "shop"), 0);
  const std::string insert = R"({"insert": "c", "documents": [{}]})";
  EXPECT_EQ(code(ann, insert, "shop"), "13");
  ASSERT_EQ(code(root, R"({"update": "system.users", "updates": [{"q": {"_id": "shop.ann"},
                   "u": {"$set": {"roles": [{"role": "readWrite", "db": "shop"}]}}}]})",
                 "admin"),
            "ok");
  EXPECT_EQ(code(ann, insert, "shop"), "ok");
  ASSERT_EQ(code(root, R"({"delete": "system.users",
                   "deletes": [{"q": {"_id": "shop.ann"}, "limit": 0}]})",
                 "admin"),
            "ok");
  EXPECT_EQ(code(ann, insert, "shop"), "13");
}

TEST_F(AuthenticationTest, WrongLogIns_AreAnsweredAlike) {
  make_user("ann", "read", "shop");
  Client client(7, remote());
  EXPECT_EQ(log_in(client, "ann", "wrong", "shop"), 18);
  EXPECT_EQ(log_in(client, "bob", "secret", "shop"), 18);
  EXPECT_EQ(log_in(client, "ann", "secret", "other"), 18);
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "13");
  // A user who does not exist gets a challenge like a real one, with the same salt each time.
  const Proof proof("nobody", "x");
  Client other(8, remote("10.1.1.2:1"));
  const std::string first = payload_of(start(client, proof, "shop"));
  EXPECT_EQ(value_of(first, "s="), value_of(payload_of(start(other, proof, "shop")), "s="));
}

TEST_F(AuthenticationTest, MechanismsOfUsersThatDoNotExist_AreThoseThatSomeHave) {
  Client client(7, remote());
  const auto mechanisms_of = [&](int number) {
    const bson::Document hello =
        run_as(client,
               R"({"hello": 1, "saslSupportedMechs": "shop.nobody)" + std::to_string(number) +
                   R"(", "speculativeAuthenticate": {"saslStart": 1, "mechanism": "SCRAM-SHA-256",
                      "db": "shop", "payload": )" +
                   binary(Proof("nobody" + std::to_string(number), "x").first()) + "}}",
               "admin");
    std::string mechanisms = field(hello, "saslSupportedMechs");
    // As for existing users, the authentication starts with a mechanism that they have.
    EXPECT_EQ(field(hello, "speculativeAuthenticate") != "missing",
              mechanisms.find("SCRAM-SHA-256") != std::string::npos);
    return mechanisms;
  };
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string mechanisms = mechanisms_of(i);
    EXPECT_EQ(mechanisms_of(i), mechanisms);
    seen.insert(mechanisms);
  }
  EXPECT_THAT(seen, testing::UnorderedElementsAre(R"([ "SCRAM-SHA-1" ])", R"([ "SCRAM-SHA-256" ])",
                                                  R"([ "SCRAM-SHA-1", "SCRAM-SHA-256" ])"));
}

// The answers about a user that does not exist must stay the same, like those about an existing
// one.
TEST_F(AuthenticationTest, Decoys_StayTheSameAfterARestart) {
  const auto shown = [&](const std::string& user) {
    Client client(7, remote());
    return value_of(payload_of(start(client, Proof(user, "x"), "shop")), "s=") +
           field(run_as(client, R"({"hello": 1, "saslSupportedMechs": "shop.)" + user + R"("})",
                        "admin"),
                 "saslSupportedMechs");
  };
  const std::string secret = R"({"count": "system.keys", "query": {"_id": "decoyUsers"}})";
  EXPECT_EQ(good(secret, "admin", "n"), "0");
  const std::string absent = shown("nobody");
  make_user("ann", "read", "shop");
  const std::string existing = shown("ann");
  EXPECT_EQ(shown("nobody"), absent);
  restart({.authentication = true});
  EXPECT_EQ(shown("nobody"), absent);
  EXPECT_EQ(shown("ann"), existing);

  // A store of an earlier version has no secret.
  good(R"({"delete": "system.keys", "deletes": [{"q": {}, "limit": 0}]})", "admin");
  restart({.authentication = true});
  const std::string other = shown("nobody");
  EXPECT_NE(other, absent);
  restart({.authentication = true});
  EXPECT_EQ(shown("nobody"), other);

  // A secret that is not binary is replaced once.
  good(R"({"update": "system.keys",
           "updates": [{"q": {"_id": "decoyUsers"}, "u": {"$set": {"key": "text"}}}]})",
       "admin");
  restart({.authentication = true});
  const std::string replaced = shown("nobody");
  restart({.authentication = true});
  EXPECT_EQ(shown("nobody"), replaced);

  // Without log-ins, everybody could read the secret, so the server removes it when it starts.
  restart({.authentication = false});
  make_user("bob", "read", "shop");
  EXPECT_EQ(good(secret, "admin", "n"), "0");
}

TEST_F(AuthenticationTest, SecretOfDecoys_IsReadByNoRole) {
  make_user("root", "root", "admin");
  make_user("copier", "backup", "admin");
  make_user("restorer", "restore", "admin");
  make_user("manager", "userAdminAnyDatabase", "admin");
  EXPECT_EQ(good(R"({"count": "system.keys"})", "admin", "n"), "1");
  for (const char* const user : {"root", "copier", "restorer", "manager"}) {
    Client client(7, remote());
    ASSERT_EQ(log_in(client, user, "secret"), 0);
    for (const char* const command :
         {R"({"find": "system.keys"})", R"({"aggregate": "system.keys", "pipeline": [],
             "cursor": {}})",
          R"({"delete": "system.keys", "deletes": [{"q": {}, "limit": 0}]})"}) {
      EXPECT_EQ(code(client, command, "admin"), "13") << user << command;
    }
  }
}

TEST_F(AuthenticationTest, MechanismsOfExternalUsers_AreThoseOfNobody) {
  good(R"({"createUser": "CN=ann", "roles": []})", "$external");
  Client client(7, remote());
  for (const char* const user : {"CN=ann", "CN=bob"}) {
    EXPECT_EQ(field(run_as(client,
                           R"({"hello": 1, "saslSupportedMechs": "$external.)" + std::string(user) +
                               R"("})",
                           "admin"),
                    "saslSupportedMechs"),
              "[  ]");
  }
}

TEST_F(AuthenticationTest, ExchangesBegunBeforeTheFirstFailure_AreBrakedAsWell) {
  make_user("ann", "read", "shop");
  constexpr int kFree = LoginThrottle::kOfPair.free_failures;
  std::vector<std::unique_ptr<Client>> clients;
  // A client needs some time for its proof, and the pause after the last free failure is short. So
  // all proofs are made before the first one is sent.
  std::vector<std::string> proofs;
  for (int i = 0; i <= kFree; ++i) {
    clients.push_back(std::make_unique<Client>(100 + i, remote()));
    Proof proof("ann", i < kFree ? "wrong" : "secret");
    proofs.push_back(proof.last(payload_of(start(*clients.back(), proof, "shop"))));
  }
  const auto code_of_exchange = [&](int i) {
    const size_t at = static_cast<size_t>(i);
    return field(proceed(*clients[at], 1, proofs[at], "shop"), "code");
  };
  for (int i = 0; i < kFree; ++i) EXPECT_EQ(code_of_exchange(i), "18");
  EXPECT_EQ(code_of_exchange(kFree), "18");
}

TEST_F(AuthenticationTest, Sessions_OfWhoHasYetToLogIn_AreNotKept) {
  make_user("ann", "read", "shop");
  const auto known = [&] {
    return good(R"({"serverStatus": 1})", "admin", "logicalSessionRecordCache");
  };
  const std::string lsid =
      R"("lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}})";
  Client client(7, remote());
  EXPECT_EQ(code(client, R"({"ping": 1, )" + lsid + "}", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"startSession": 1})", "admin"), "13");
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 0)"));
  ASSERT_EQ(log_in(client, "ann", "secret", "shop"), 0);
  EXPECT_EQ(code(client, R"({"ping": 1, )" + lsid + "}", "admin"), "ok");
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 1)"));
  // Nobody can end another user's session.
  const std::string end = R"({"endSessions": [{)" + lsid.substr(9);
  Client stranger(8, remote());
  EXPECT_EQ(code(stranger, end + "]}", "admin"), "13");
  make_user("bob", "read", "shop");
  ASSERT_EQ(log_in(stranger, "bob", "secret", "shop"), 0);
  EXPECT_EQ(code(stranger, end + "]}", "admin"), "ok");
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 1)"));
  EXPECT_EQ(code(client, end + "]}", "admin"), "ok");
  EXPECT_THAT(known(), HasSubstr(R"("activeSessionsCount" : 0)"));
}

TEST_F(AuthenticationTest, Guessing_IsSlowedDown) {
  make_user("ann", "read", "shop");
  Client client(7, remote());
  for (int i = 0; i < LoginThrottle::kOfPair.free_failures; ++i) {
    EXPECT_EQ(log_in(client, "ann", "wrong", "shop"), 18);
  }
  EXPECT_EQ(log_in(client, "ann", "secret", "shop"), 18);
  Client elsewhere(8, remote("10.9.9.9:1"));
  EXPECT_EQ(log_in(elsewhere, "ann", "secret", "shop"), 0);
}

TEST_F(AuthenticationTest, Hello_BeginsTheLogIn) {
  make_user("ann", "read", "shop");
  Client client(7, remote());
  Proof proof("ann", "secret");
  const bson::Document hello = run_as(
      client,
      R"({"hello": 1, "saslSupportedMechs": "shop.ann", "speculativeAuthenticate": {"saslStart": 1,
          "mechanism": "SCRAM-SHA-256", "db": "shop", "options": {"skipEmptyExchange": true},
          "payload": )" +
          binary(proof.first()) + "}}",
      "admin");
  EXPECT_EQ(field(hello, "saslSupportedMechs"), R"([ "SCRAM-SHA-1", "SCRAM-SHA-256" ])");
  const bson::View speculative = hello.view()["speculativeAuthenticate"].as_document();
  EXPECT_EQ(field(speculative, "done"), "false");
  const bson::Document answer = proceed(client, 1, proof.last(payload_of(speculative)), "shop");
  EXPECT_EQ(field(answer, "done"), "true");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "ok");
  // The reply omits an authentication with a mechanism that cannot be used.
  EXPECT_EQ(field(run_as(client,
                         R"({"hello": 1, "speculativeAuthenticate": {"saslStart": 1,
                             "mechanism": "PLAIN", "db": "shop", "payload": ""}})",
                         "admin"),
                  "speculativeAuthenticate"),
            "missing");
  // The reply also omits a mechanism for which the user has no credentials. The driver then takes
  // the other mechanism.
  good(R"({"createUser": "old", "pwd": "secret", "roles": [], "mechanisms": ["SCRAM-SHA-1"]})",
       "shop");
  const bson::Document other = run_as(
      client,
      R"({"hello": 1, "saslSupportedMechs": "shop.old", "speculativeAuthenticate": {"saslStart": 1,
          "mechanism": "SCRAM-SHA-256", "db": "shop", "payload": )" +
          binary(Proof("old", "secret").first()) + "}}",
      "admin");
  EXPECT_EQ(field(other, "saslSupportedMechs"), R"([ "SCRAM-SHA-1" ])");
  EXPECT_EQ(field(other, "speculativeAuthenticate"), "missing");
  // The user's database is unknown, as when mongodump runs without --authenticationDatabase.
  EXPECT_EQ(code(client, R"({"hello": 1, "saslSupportedMechs": ".old"})", "admin"), "ok");
  EXPECT_EQ(code(client, R"({"hello": 1, "saslSupportedMechs": "old"})", "admin"), "2");
}

TEST_F(AuthenticationTest, TheLongExchange_EndsWithAnEmptyMessage) {
  make_user("ann", "read", "shop");
  Client client(7, remote());
  Proof proof("ann", "secret");
  const bson::Document challenge = start(client, proof, "shop", false);
  const bson::Document answer = proceed(client, 1, proof.last(payload_of(challenge)), "shop");
  EXPECT_EQ(field(answer, "done"), "false");
  EXPECT_EQ(payload_of(answer), proof.signature());
  EXPECT_EQ(field(proceed(client, 1, "", "shop"), "done"), "true");
  EXPECT_EQ(field(proceed(client, 1, "", "shop"), "code"), "17");
}

TEST_F(AuthenticationTest, TheFirstUser_IsMadeFromThisMachine) {
  Client remote_client(7, remote());
  Client local_client(8, {.kind = Peer::Kind::kTcp, .address = "127.0.0.1:5", .is_loopback = true});
  const std::string create = R"({"createUser": "root", "pwd": "secret", "roles": ["root"]})";
  EXPECT_EQ(code(remote_client, create, "admin"), "13");
  EXPECT_EQ(code(local_client, R"({"find": "c"})"), "13");
  // A merge of no users is accepted.
  good(
      R"({"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.none", "db": "", "drop": true})",
      "admin");
  EXPECT_EQ(code(local_client, create, "admin"), "ok");
  EXPECT_EQ(code(local_client, R"({"createUser": "b", "pwd": "x", "roles": []})", "admin"), "13");
  EXPECT_EQ(log_in(local_client, "root", "secret"), 0);
  EXPECT_EQ(code(local_client, R"({"createUser": "b", "pwd": "x", "roles": []})", "admin"), "ok");
}

TEST_F(AuthenticationTest, Changes_ReachWhoIsLoggedIn) {
  make_user("ann", "read", "shop");
  Client client(7, remote());
  ASSERT_EQ(log_in(client, "ann", "secret", "shop"), 0);
  const std::string write = R"({"insert": "c", "documents": [{"a": 1}]})";
  EXPECT_EQ(code(client, write, "shop"), "13");
  good(R"({"grantRolesToUser": "ann", "roles": [{"role": "readWrite", "db": "shop"}]})", "shop");
  EXPECT_EQ(code(client, write, "shop"), "ok");
  good(R"({"revokeRolesFromUser": "ann", "roles": ["readWrite"]})", "shop");
  EXPECT_EQ(code(client, write, "shop"), "13");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "ok");
  good(R"({"dropUser": "ann"})", "shop");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "13");
}

TEST_F(AuthenticationTest, Users_AreShownWithoutTheirSecrets) {
  good(R"({"createUser": "ann", "pwd": "secret", "roles": ["read"],
           "customData": {"team": 1}, "mechanisms": ["SCRAM-SHA-256"]})",
       "shop");
  const bson::Document ann = doc(good(R"({"usersInfo": "ann"})", "shop", "users.0"));
  const std::string id = field(ann, "userId");
  EXPECT_THAT(id, HasSubstr(R"("subType" : "04")"));
  EXPECT_EQ(json(ann), R"({ "_id" : "shop.ann", "userId" : )" + id +
                           R"(, "user" : "ann", "db" : "shop", "customData" : { "team" : 1 }, )"
                           R"("roles" : [ { "role" : "read", "db" : "shop" } ], )"
                           R"("mechanisms" : [ "SCRAM-SHA-256" ] })");
  EXPECT_EQ(good(R"({"usersInfo": "bob"})", "shop"), R"({ "users" : [  ] })");
  EXPECT_THAT(good(R"({"usersInfo": {"forAllDBs": true}})", "admin"), HasSubstr("shop.ann"));
  EXPECT_THAT(good(R"({"usersInfo": 1, "showCredentials": true})", "shop"), HasSubstr("storedKey"));
  good(R"({"updateUser": "ann", "pwd": "other", "customData": {"team": 2}})", "shop");
  Client client(7, remote());
  EXPECT_EQ(log_in(client, "ann", "secret", "shop"), 18);
  EXPECT_EQ(log_in(client, "ann", "other", "shop"), 0);
  EXPECT_EQ(good(R"({"usersInfo": "ann"})", "shop", "users.0.userId"), id);
  EXPECT_EQ(good(R"({"dropAllUsersFromDatabase": 1})", "shop", "n"), "1");
}

// mongorestore sends _mergeAuthzCollections. Its temporary collection is an exact copy of a dump's
// users.
TEST_F(AuthenticationTest, UsersOfADump_AreMerged) {
  make_user("ann", "read", "shop");
  make_user("bob", "read", "shop");
  make_user("eve", "read", "other");
  good(R"({"aggregate": "system.users", "pipeline": [{"$match": {"user": "ann"}},
           {"$out": "tempusers"}], "cursor": {}})",
       "admin");
  good(R"({"dropUser": "ann"})", "shop");
  make_user("restorer", "restore", "admin");
  Client client(7, remote());
  ASSERT_EQ(log_in(client, "restorer", "secret", "admin"), 0);
  const auto merge = [](const std::string& fields) {
    return R"({"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", )" + fields +
           "}";
  };
  const auto ids = [&] {
    return good(R"({"distinct": "system.users", "key": "_id"})", "admin", "values");
  };
  EXPECT_EQ(code(client, merge(R"("db": "other", "drop": false)"), "admin"), "2");
  EXPECT_EQ(ids(), R"([ "admin.restorer", "other.eve", "shop.bob" ])");
  EXPECT_EQ(code(client, merge(R"("db": "", "drop": false)"), "admin"), "ok");
  EXPECT_EQ(ids(), R"([ "admin.restorer", "other.eve", "shop.ann", "shop.bob" ])");
  EXPECT_EQ(code(client, merge(R"("db": "shop", "drop": true)"), "admin"), "ok");
  EXPECT_EQ(ids(), R"([ "admin.restorer", "other.eve", "shop.ann" ])");
  Client ann(8, remote());
  EXPECT_EQ(log_in(ann, "ann", "secret", "shop"), 0);
  EXPECT_EQ(code(ann, merge(R"("db": "shop", "drop": true)"), "admin"), "13");

  // If a user cannot be stored as it is, nothing changes.
  good(R"({"insert": "tempusers", "documents": [{"_id": "shop.zoe", "user": "zoe", "db": "shop",
           "roles": [{"role": "made here", "db": "shop"}]}]})",
       "admin");
  EXPECT_EQ(code_of(merge(R"("db": "", "drop": true)"), "admin"), 31);
  good(R"({"update": "tempusers", "updates": [{"q": {"_id": "shop.zoe"}, "u": {"$set": {
           "roles": [], "authenticationRestrictions": [{"clientSource": ["10.0.0.0/8"]}]}}}]})",
       "admin");
  EXPECT_EQ(code_of(merge(R"("db": "", "drop": true)"), "admin"), 115);
  good(R"({"insert": "temproles", "documents": [{"_id": "shop.made here"}]})", "admin");
  EXPECT_EQ(code_of(merge(R"("tempRolesCollection": "admin.temproles", "db": "")"), "admin"), 115);
  EXPECT_EQ(code_of(R"({"_mergeAuthzCollections": 1, "db": ""})", "admin"), 2);
  EXPECT_EQ(ids(), R"([ "admin.restorer", "other.eve", "shop.ann" ])");
}

// Tools compare the two schema versions before they restore users.
TEST_F(AuthenticationTest, TheFormOfUsers_IsTold) {
  EXPECT_EQ(good(R"({"getParameter": 1, "authSchemaVersion": 1})", "admin", "authSchemaVersion"),
            "5");
  make_user("ann", "read", "shop");
  EXPECT_THAT(good(R"({"find": "system.version"})", "admin"),
              HasSubstr(R"({ "_id" : "authSchema", "currentVersion" : 5 })"));
}

TEST_F(AuthenticationTest, WrongUsers_AreRefused) {
  make_user("ann", "read", "shop");
  EXPECT_EQ(code_of(R"({"createUser": "ann", "pwd": "x", "roles": []})", "shop"), 51003);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "roles": []})", "shop"), 2);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "", "roles": []})", "shop"), 2);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "x"})", "shop"), 40414);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "x", "roles": ["root"]})", "shop"), 31);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "x", "roles": [7]})", "shop"), 2);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "x", "roles": [], "foo": 1})", "shop"), 40415);
  EXPECT_EQ(code_of(R"({"createUser": "", "pwd": "x", "roles": []})", "shop"), 2);
  EXPECT_EQ(code_of(R"({"createUser": "bob", "pwd": "x", "roles": []})", "local"), 2);
  EXPECT_EQ(code_of(R"({"dropUser": "bob"})", "shop"), 11);
  EXPECT_EQ(code_of(R"({"updateUser": "bob", "pwd": "x"})", "shop"), 11);
  EXPECT_EQ(code_of(R"({"updateUser": "ann"})", "shop"), 2);
  EXPECT_EQ(code_of(R"({"saslStart": 1, "mechanism": "PLAIN", "payload": ""})", "shop"), 334);
  EXPECT_EQ(code_of(R"({"saslContinue": 1, "conversationId": 1, "payload": ""})", "shop"), 17);
}

TEST_F(AuthenticationTest, Certificates_AreUsersOfExternal) {
  good(R"({"createUser": "CN=ann,O=shop", "roles": [{"role": "read", "db": "shop"}]})",
       "$external");
  Peer peer = remote();
  peer.is_tls = true;
  peer.certificate_subject = "CN=ann,O=shop";
  Client client(7, peer);
  EXPECT_EQ(code(client, R"({"authenticate": 1, "mechanism": "MONGODB-X509", "user": "CN=bob"})",
                 "$external"),
            "18");
  EXPECT_EQ(code(client, R"({"authenticate": 1, "mechanism": "MONGODB-X509"})", "$external"), "ok");
  EXPECT_EQ(code(client, R"({"find": "c"})", "shop"), "ok");
  Client without(8, remote());
  EXPECT_EQ(code(without, R"({"authenticate": 1, "mechanism": "MONGODB-X509"})", "$external"),
            "18");
}

}  // namespace
}  // namespace gridmount::wire
