// Goal: mongofiles' connection flags produce the equivalent connection string.
#include "tools/gridfiles/connection_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace gridmount::tools {
namespace {

using ::testing::HasSubstr;
using Flags = std::vector<std::pair<std::string, std::string>>;

std::string uri_of(const Flags& flags) {
  ConnectionOptions options;
  for (const auto& [flag, value] : flags) {
    if (const Status set = options.set(flag, value); !set) return set.error().message();
  }
  const Result<std::string> uri = options.uri();
  return uri ? *uri : uri.error().message();
}

TEST(ConnectionOptions, Hosts_TakePortsAndReplicaSets) {
  EXPECT_EQ(uri_of({}), "mongodb://localhost/");
  EXPECT_EQ(uri_of({{"port", "7000"}}), "mongodb://localhost:7000/");
  EXPECT_EQ(uri_of({{"host", "db"}, {"port", "7000"}}), "mongodb://db:7000/");
  EXPECT_EQ(uri_of({{"host", "db:1"}, {"port", "7000"}}), "mongodb://db:1/");
  EXPECT_EQ(uri_of({{"host", "[::1]"}, {"port", "7000"}}), "mongodb://[::1]:7000/");
  EXPECT_EQ(uri_of({{"host", "set/a,b:2"}, {"port", "1"}}), "mongodb://a:1,b:2/?replicaSet=set");
  EXPECT_EQ(uri_of({{"host", "/run/x.sock"}}), "mongodb://%2Frun%2Fx.sock/");
  EXPECT_THAT(uri_of({{"host", "a,,b"}}), HasSubstr("empty host"));
}

TEST(ConnectionOptions, Users_AreEncoded) {
  EXPECT_EQ(uri_of({{"username", "me@home"}, {"password", "p:/w"}, {"host", "db"}}),
            "mongodb://me%40home:p%3A%2Fw@db/");
  EXPECT_EQ(uri_of({{"username", "me"},
                    {"password", "p"},
                    {"authenticationDatabase", "admin"},
                    {"authenticationMechanism", "SCRAM-SHA-256"}}),
            "mongodb://me:p@localhost/?authSource=admin&authMechanism=SCRAM-SHA-256");
}

TEST(ConnectionOptions, Uris_AreExtended) {
  EXPECT_EQ(uri_of({{"uri", "mongodb://db"}}), "mongodb://db/");
  // The message does not repeat the URI, which may contain a password.
  EXPECT_EQ(uri_of({{"uri", "mongodb:me:secret@db"}}),
            "error parsing uri: it does not begin with mongodb:// or mongodb+srv://");
  EXPECT_EQ(uri_of({{"uri", "mongodb://db/x?w=1"}, {"ssl", ""}}), "mongodb://db/x?w=1&tls=true");
  EXPECT_EQ(uri_of({{"uri", "mongodb://db"}, {"username", "me"}, {"password", "p"}}),
            "mongodb://me:p@db/");
  EXPECT_EQ(uri_of({{"uri", "mongodb://me@db/x?w=1"}, {"password", "p:"}}),
            "mongodb://me:p%3A@db/x?w=1");
  EXPECT_THAT(uri_of({{"uri", "mongodb://a:b@db"}, {"password", "p"}}),
              HasSubstr("illegal argument combination"));
  EXPECT_THAT(uri_of({{"uri", "mongodb://a:b@db"}, {"username", "me"}}),
              HasSubstr("illegal argument combination"));
  EXPECT_THAT(uri_of({{"uri", "mongodb://db"}, {"host", "x"}}),
              HasSubstr("illegal argument combination"));
}

TEST(ConnectionOptions, TlsAndTimes_BecomeOptions) {
  EXPECT_EQ(uri_of({{"ssl", ""},
                    {"sslCAFile", "/ca.pem"},
                    {"sslPEMKeyFile", "k.pem"},
                    {"serverSelectionTimeout", "3"},
                    {"compressors", "zlib,snappy"}}),
            "mongodb://localhost/?tlsCAFile=%2Fca.pem&tlsCertificateKeyFile=k.pem"
            "&compressors=zlib%2Csnappy&tls=true&serverSelectionTimeoutMS=3000");
  EXPECT_THAT(uri_of({{"dialTimeout", "soon"}}), HasSubstr("number of seconds"));
  EXPECT_THAT(uri_of({{"sslFIPSMode", ""}}), HasSubstr("not supported"));
}

TEST(ConnectionOptions, Passwords_AreAskedForAndWarnedAbout) {
  ConnectionOptions options;
  EXPECT_FALSE(options.given());
  ASSERT_TRUE(options.set("username", "me"));
  EXPECT_TRUE(options.given());
  EXPECT_TRUE(options.needs_password());
  EXPECT_FALSE(options.shows_password());
  ASSERT_TRUE(options.set("password", "p"));
  EXPECT_FALSE(options.needs_password());
  EXPECT_TRUE(options.shows_password());
  ConnectionOptions uri;
  ASSERT_TRUE(uri.set("uri", "mongodb://me:p@db"));
  EXPECT_TRUE(uri.shows_password());
  EXPECT_FALSE(uri.needs_password());
  ConnectionOptions user_in_uri;
  ASSERT_TRUE(user_in_uri.set("uri", "mongodb://me@db"));
  EXPECT_TRUE(user_in_uri.needs_password());
  user_in_uri.set_password("p");
  EXPECT_FALSE(user_in_uri.needs_password());
  ConnectionOptions without;
  ASSERT_TRUE(without.set("uri", "mongodb://db:27017"));
  EXPECT_FALSE(without.shows_password());
}

TEST(ConnectionOptions, Config_IsRead) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("config" + std::to_string(getpid()));
  std::ofstream(file) << "uri: mongodb://db\npassword: secret\n";
  EXPECT_EQ(uri_of({{"config", file.string()}, {"username", "me"}}), "mongodb://me:secret@db/");
  std::ofstream(file) << "nosuch: 1\n";
  EXPECT_THAT(uri_of({{"config", file.string()}}), HasSubstr("unknown field nosuch"));
  std::ofstream(file) << "[";
  EXPECT_THAT(uri_of({{"config", file.string()}}), HasSubstr("error reading config file"));
  std::filesystem::remove(file);
  EXPECT_THAT(uri_of({{"config", file.string()}}), HasSubstr("error reading config file"));
}

}  // namespace
}  // namespace gridmount::tools
