// Goal: authentication over TCP, the permissions of roles, and certificates of both sides work.
// Method: valid and invalid passwords, commands and certificates.
#include <gmock/gmock.h>

#include "tests/clients/libmongoc/mongoc_fixture.h"

namespace gridmount::clients {
namespace {

using ::testing::HasSubstr;

class MongocSecurity : public MongocTest {
 protected:
  static std::string password() { return escaped(environment("CLIENT_PASSWORD")); }
  static std::string address(const std::string& user, const std::string& password,
                             const std::string& mechanism = "") {
    return user + ":" + password + "@" + environment("CLIENT_TCP") + "/test" +
           (mechanism.empty() ? "" : "?authMechanism=" + mechanism);
  }
  static std::string tls_address(const std::string& authority, const std::string& own = "",
                                 const std::string& user = "") {
    return user + environment("CLIENT_TLS") + "/test?tls=true&serverSelectionTryOnce=true" +
           "&tlsCAFile=" + certificate(authority) +
           (own.empty() ? "" : "&tlsCertificateKeyFile=" + certificate(own));
  }

  // Returns the code of the command's failure, or 0 on success.
  uint32_t code(const std::string& to, std::string_view command) {
    const Client client = connect(to);
    return code(client.get(), command);
  }
  uint32_t code(mongoc_client_t* client, std::string_view command) {
    error_ = {};
    mongoc_client_command_simple(client, "test", document(command).get(), nullptr, nullptr,
                                 &error_);
    return error_.code;
  }
};

constexpr std::string_view kRead = R"({"find": "mongoc"})";
constexpr std::string_view kWrite = R"({"insert": "mongoc", "documents": [{"a": 1}]})";

TEST_F(MongocSecurity, BothMechanisms_LogIn) {
  for (const auto& [user, mechanism] :
       {std::pair{"both", ""}, std::pair{"both", "SCRAM-SHA-1"}, std::pair{"both", "SCRAM-SHA-256"},
        std::pair{"sha1", ""}, std::pair{"sha256", "SCRAM-SHA-256"}}) {
    const Client client = connect(address(user, password(), mechanism));
    EXPECT_EQ(code(client.get(), kWrite), 0U) << user << mechanism << ": " << error_.message;
    EXPECT_EQ(code(client.get(), kRead), 0U) << user << mechanism << ": " << error_.message;
  }
  run(R"({"drop": "mongoc"})", "test");
}

TEST_F(MongocSecurity, WrongLogIns_AreRefused) {
  for (const auto& [user, word, mechanism] :
       {std::tuple{"both", std::string("wrong"), "SCRAM-SHA-1"},
        std::tuple{"both", std::string("wrong"), "SCRAM-SHA-256"},
        std::tuple{"nobody", password(), ""}, std::tuple{"sha1", password(), "SCRAM-SHA-256"}}) {
    const Client client = connect(address(user, word, mechanism));
    EXPECT_NE(code(client.get(), kRead), 0U) << user << mechanism;
    EXPECT_TRUE(error_.code == 18 || error_.code == MONGOC_ERROR_CLIENT_AUTHENTICATE)
        << error_.code << ": " << error_.message;
    EXPECT_THAT(error_.message, HasSubstr("Authentication failed"));
  }
}

TEST_F(MongocSecurity, Roles_AreKeptTo) {
  EXPECT_EQ(code(environment("CLIENT_TCP"), kRead), 13U);
  EXPECT_EQ(code(environment("CLIENT_TCP"), R"({"ping": 1})"), 0U);
  const Client reader = connect(address("reader", password()));
  EXPECT_EQ(code(reader.get(), kRead), 0U) << error_.message;
  EXPECT_EQ(code(reader.get(), kWrite), 13U);
  EXPECT_EQ(code(reader.get(), R"({"delete": "fs.files", "deletes": [{"q": {}, "limit": 0}]})"),
            13U);
}

TEST_F(MongocSecurity, Certificates_AreChecked) {
  EXPECT_EQ(code(tls_address("ca.pem"), R"({"ping": 1})"), 0U) << error_.message;
  EXPECT_EQ(code(tls_address("ca.pem", "client.pem"), R"({"ping": 1})"), 0U) << error_.message;
  EXPECT_EQ(code(tls_address("ca.pem", "", "both:" + password() + "@"), kWrite), 0U)
      << error_.message;
  EXPECT_EQ(code(tls_address("ca.pem", "client.pem"), kRead), 13U);
  EXPECT_NE(code(tls_address("other-ca.pem"), R"({"ping": 1})"), 0U);
  EXPECT_EQ(error_.domain, static_cast<uint32_t>(MONGOC_ERROR_SERVER_SELECTION)) << error_.message;
  EXPECT_NE(code(tls_address("ca.pem", "other-client.pem"), R"({"ping": 1})"), 0U);
  EXPECT_NE(code(environment("CLIENT_TLS") + "/?serverSelectionTryOnce=true", R"({"ping": 1})"),
            0U);
}

}  // namespace
}  // namespace gridmount::clients
