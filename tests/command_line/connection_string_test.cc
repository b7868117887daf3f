#include "command_line/connection_string.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "command_line/secret_arguments.h"

namespace gridmount::command_line {
namespace {

TEST(ConnectionString, Secrets_AreNotLogged) {
  EXPECT_EQ(without_secrets("mongodb://me:p@db/?x=1"), "mongodb://db/");
  EXPECT_EQ(without_secrets("mongodb://db/?x=a@b"), "mongodb://db/");
  EXPECT_EQ(without_secrets("mongodb://db?x=a@b"), "mongodb://db");
  EXPECT_EQ(without_secrets("mongodb+srv://me:p@db"), "mongodb+srv://db");
  EXPECT_EQ(without_secrets("mongodb://[::1]:27017/db?x=a@b"), "mongodb://[::1]:27017/db");
  EXPECT_EQ(without_secrets("no uri"), "no uri");
  EXPECT_EQ(without_secrets("mongodb://me:p@a,b:2/files?tls=true&tlsCertificateKeyFilePassword=s"),
            "mongodb://a,b:2/files");
}

TEST(ConnectionString, Password_IsNotLogged_EvenIfItIsNotEscaped) {
  EXPECT_EQ(without_secrets("mongodb://me:p/w@db"), "mongodb://db");
  EXPECT_EQ(without_secrets("mongodb://me:/p@1/w@db:7/files?x=a@b"), "mongodb://db:7/files");
  EXPECT_EQ(without_secrets("mongodb://me:1?w@db/?x=1"), "mongodb://db/");
  EXPECT_EQ(without_secrets("mongodb://me:p?/w@db?x=a@b"), "mongodb://db");
  EXPECT_EQ(without_secrets("mongodb://me:p?w=1@db/files"), "mongodb://db/files");
  EXPECT_EQ(without_secrets("mongodb://me:1?w=1@db/files?x=1"), "mongodb://db/files");
  EXPECT_EQ(without_secrets("mongodb://me:p?w=1@db:1,c/files?x=a@b"), "mongodb://db:1,c/files");
}

TEST(ConnectionString, MistypedOnes_AreNotTakenForFolders) {
  for (const char* text : {"mongodb:", "mongodb:/host/db", "mongodb+srv:host"}) {
    const Status checked = check_connection_string(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().code(), ErrorCode::kBadValue);
  }
  for (const char* text : {"mongodb://host/db", "mongodb+srv://host", "store.gfs", "mongodb"}) {
    EXPECT_TRUE(check_connection_string(text)) << text;
  }
}

TEST(ConnectionString, Socket_IsAnEscapedHost) {
  EXPECT_EQ(uri_of_socket("/a b/gridmount.sock"), "mongodb://%2Fa%20b%2Fgridmount.sock");
}

TEST(ConnectionString, Password_IsAddedWhereOneIsMissing) {
  EXPECT_TRUE(lacks_password("mongodb://me@db/"));
  EXPECT_FALSE(lacks_password("mongodb://me:p@db/"));
  EXPECT_FALSE(lacks_password("mongodb://db/?x=a@b"));
  EXPECT_FALSE(lacks_password("mongodb://me@db/?authMechanism=MONGODB-X509"));
  EXPECT_FALSE(lacks_password("mongodb://me@db/?authmechanism=MONGODB-X509"));
  EXPECT_EQ(with_password("mongodb://me@db/files", "p@s/s"), "mongodb://me:p%40s%2Fs@db/files");
}

TEST(SecretArguments, ValuesAndPasswordsOfUris_AreCrossedOut) {
  std::array<std::string, 7> arguments{"--password=abc",
                                       "abc",
                                       "-pabc",
                                       "put",
                                       "mongodb://me:p@db/?x=1",
                                       "mongodb://db/?tlsCertificateKeyFilePassword=key&x=1",
                                       "mongodb://db/?sslClientCertificateKeyPassword=key&x=1&"
                                       "sslclientcertificatekeypassword=other"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const std::array<std::string, 1> secrets{"abc"};
  hide_secrets(pointers, secrets);
  EXPECT_EQ(arguments, (std::array<std::string, 7>{
                           "--password=xxx", "xxx", "-pxxx", "put", "mongodb://me:x@db/?x=1",
                           "mongodb://db/?tlsCertificateKeyFilePassword="
                           "xxx&x=1",
                           "mongodb://db/?sslClientCertificateKeyPassword=xxx&x=1&"
                           "sslclientcertificatekeypassword=xxxxx"}));
}

TEST(SecretArguments, PasswordThatIsNotEscaped_IsCrossedOut) {
  std::array<std::string, 3> arguments{"mongodb://me:p/w@db/files",
                                       "--uri=mongodb://me:/1?@db/?x=1",
                                       "mongodb://db:1/files?x=a:b@c"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  hide_secrets(pointers, {});
  EXPECT_EQ(arguments, (std::array<std::string, 3>{"mongodb://me:xxx@db/files",
                                                   "--uri=mongodb://me:xxx@db/?x=1",
                                                   "mongodb://db:1/files?x=a:b@c"}));
}

}  // namespace
}  // namespace gridmount::command_line
