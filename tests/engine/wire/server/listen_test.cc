// Goal: a server listens at the right places: the socket file with its access rights, and TCP
// addresses with the options that they need.
// Method: right and wrong files and addresses, and the resulting messages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>

#include "engine/wire/server/listen_address.h"
#include "engine/wire/server/socket_file.h"
#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

class ListenTest : public ServerTest {
 protected:
  std::filesystem::path file() const { return options_.socket_folder / "gridmount.sock"; }
  Error refusal() {
    Result<std::unique_ptr<Server>> server = Server::start(handler_, options_);
    if (!server) return server.error();
    ADD_FAILURE() << "it started";
    return {ErrorCode::kInternalError, ""};
  }
};

TEST_F(ListenTest, SocketFile_IsTheOwnersAlone_WhateverTheUmask) {
  const mode_t before = ::umask(0);
  start();
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(ListenTest, SocketFile_LeftOver_IsReplaced) {
  // Makes a listening socket whose file outlives the socket.
  Result<SocketFile> file_made = SocketFile::listen(folder_);
  ASSERT_TRUE(file_made);
  std::filesystem::rename(file(), folder_ / "kept");
  { const SocketFile gone = std::move(*file_made); }
  std::filesystem::rename(folder_ / "kept", file());
  EXPECT_FALSE(connect().is_connected());
  start();
  EXPECT_TRUE(is_served());
}

TEST_F(ListenTest, SocketFile_OfAServerThatAnswers_IsLeftAlone) {
  start();
  FakeRequestHandler other_handler;
  const auto second = Server::start(other_handler, options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kDbPathInUse);
  EXPECT_TRUE(is_served());
}

TEST_F(ListenTest, SocketFile_ThatIsNoSocket_IsLeftAlone) {
  std::ofstream(file()) << "precious";
  EXPECT_EQ(refusal().code(), ErrorCode::kDbPathInUse);
  EXPECT_EQ(std::filesystem::file_size(file()), 8u);
}

TEST_F(ListenTest, SocketFile_OfAnotherInItsPlace_IsNotRemovedAtTheEnd) {
  start();
  std::filesystem::remove(file());
  std::ofstream(file()) << "another's";
  server_.reset();
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(ListenTest, SocketFile_BelowALongPath_Works) {
  options_.socket_folder = folder_ / std::string(200, 'd') / std::string(200, 'e');
  std::filesystem::create_directories(options_.socket_folder);
  start();
  EXPECT_EQ(server_->addresses()[0], file().string());
  RawClient client = RawClient::to_socket_file(options_.socket_folder);
  EXPECT_TRUE(client.ask(command("ping")));
}

TEST_F(ListenTest, SocketFile_WithoutItsFolder_IsRefused) {
  options_.socket_folder = folder_ / "missing";
  EXPECT_NE(refusal().message().find("folder cannot be opened"), std::string::npos);
}

TEST_F(ListenTest, LocalPeer_OfThisUser_IsNamedByItsProcess) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Result<Peer> peer = local_peer(pair[0]);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->address, "gridmount.sock:" + std::to_string(::getpid()));
  EXPECT_TRUE(peer->is_loopback);
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST(ListenAddress, Text_IsTakenApart) {
  const auto name = ListenAddress::parse("db.example:27017");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->host, "db.example");
  EXPECT_EQ(name->port, 27017);
  const auto v6 = ListenAddress::parse("[fe80::1]:0");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "fe80::1");
  EXPECT_EQ(v6->port, 0);
  for (const char* text : {"", "localhost", ":27017", "[]:1", "::1:27017", "a:", "a:b", "a:65536",
                           "a:-1", "a:1x", "[::1]", "a:b:1", "[a:1"}) {
    const auto refused = ListenAddress::parse(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code(), ErrorCode::kBadValue);
  }
}

TEST(ListenAddress, Exposure_NeedsLogInAndTls_BeyondLoopback) {
  const auto endpoint = [](const char* address) {
    return asio::ip::tcp::endpoint(asio::ip::make_address(address), 1);
  };
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(check_exposure(endpoint(address), false, false)) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "fe80::1", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(check_exposure(endpoint(address), true, true)) << address;
    const Status without_log_in = check_exposure(endpoint(address), false, true);
    ASSERT_FALSE(without_log_in);
    EXPECT_NE(without_log_in.error().message().find("without authentication"), std::string::npos);
    const Status without_tls = check_exposure(endpoint(address), true, false);
    ASSERT_FALSE(without_tls);
    EXPECT_NE(without_tls.error().message().find("without TLS"), std::string::npos);
  }
}

TEST_F(ListenTest, AddressBeyondLoopback_IsRefused_BeforeAnythingIsMade) {
  options_.listen = {"127.0.0.1:0", "0.0.0.0:0"};
  EXPECT_EQ(refusal().code(), ErrorCode::kInvalidOptions);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(ListenTest, AddressInUse_IsAnError) {
  start();
  ServerOptions second = options_;
  second.socket_folder.clear();
  second.listen = {tcp_address()};
  FakeRequestHandler other_handler;
  const auto server = Server::start(other_handler, second);
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().message().find(tcp_address()), std::string::npos);
}

TEST_F(ListenTest, Localhost_ListensOnAllItStandsFor_WithOnePort) {
  options_.listen = {"localhost:0"};
  start();
  const auto addresses = server_->addresses();
  ASSERT_GE(addresses.size(), 2u);
  const std::string port = addresses[1].substr(addresses[1].rfind(':'));
  for (size_t i = 1; i < addresses.size(); ++i) {
    EXPECT_TRUE(addresses[i].ends_with(port));
    RawClient client = RawClient::to_address(addresses[i]);
    EXPECT_TRUE(client.ask(command("ping")));
  }
}

}  // namespace
}  // namespace gridmount::wire
