// Goal: requests get the metrics or an error, and clients are held to the limits.
// Method: http_reply() alone, and sockets to a server on a port that it chooses.
#include "fuse/monitoring/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "fuse/monitoring/metrics_request.h"

namespace gridmount::fuse {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string metrics() {
  return "gridmount_open_files 3\n";
}

TEST(MetricsRequest, Get_HasTheMetrics) {
  for (const char* head :
       {"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "GET /metrics HTTP/1.0\r\n\r\n",
        "GET /metrics?name=a HTTP/1.1\r\n\r\n"}) {
    const std::string reply = http_reply(head, metrics);
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(reply, HasSubstr("\r\nContent-Length: 23\r\n"));
    EXPECT_THAT(reply, EndsWith("\r\n\r\ngridmount_open_files 3\n"));
  }
}

TEST(MetricsRequest, Head_HasTheLengthAlone) {
  const std::string reply = http_reply("HEAD /metrics HTTP/1.1\r\n\r\n", metrics);
  EXPECT_THAT(reply, HasSubstr("\r\nContent-Length: 23\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n"));
}

TEST(MetricsRequest, Others_AreToldWhatIsWrong) {
  const auto status = [](std::string_view head) { return http_reply(head, metrics).substr(9, 3); };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("GET /metrics/more HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("POST /metrics HTTP/1.1\r\n\r\n"), "405");
  for (const char* head : {"", "\r\n\r\n", " \r\n\r\n", "GET\r\n\r\n", "GET /metrics\r\n\r\n",
                           "GET /metrics HTTP/2\r\n\r\n", "GET  /metrics HTTP/1.1\r\n\r\n",
                           "GET /metrics HTTP/1.1 \r\n\r\n"}) {
    EXPECT_EQ(status(head), "400") << head;
  }
  EXPECT_THAT(http_reply("POST /metrics HTTP/1.1\r\n\r\n", metrics), HasSubstr("\r\nAllow: GET, "));
}

class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = MetricsServer::start("127.0.0.1:0", metrics);
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(started).value();
    const std::string address = server_->addresses().at(0);
    port_ = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  void TearDown() override {
    for (int client : clients_) close(client);
  }

  // Returns the descriptor, which is closed at the latest at the end.
  int connect_client() {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    clients_.push_back(client);
    return client;
  }
  void disconnect_all() {
    for (int client : clients_) close(client);
    clients_.clear();
  }
  static void send_text(int client, const std::string& text) {
    EXPECT_EQ(send(client, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Reads until the server ends or resets the stream.
  static std::string receive_all(int client) {
    std::string received;
    char buffer[4096];
    for (ssize_t bytes; (bytes = recv(client, buffer, sizeof buffer, 0)) > 0;) {
      received.append(buffer, static_cast<size_t>(bytes));
    }
    return received;
  }
  std::string ask() {
    const int client = connect_client();
    send_text(client, "GET /metrics HTTP/1.1\r\n\r\n");
    shutdown(client, SHUT_WR);
    return receive_all(client);
  }

 private:
  std::unique_ptr<MetricsServer> server_;
  uint16_t port_ = 0;
  std::vector<int> clients_;
};

TEST_F(MetricsServerTest, Connections_BeyondTheLimit_AreClosed) {
  std::vector<int> silent;
  for (size_t i = 0; i < MetricsServer::kConnectionsMax; ++i) silent.push_back(connect_client());
  EXPECT_EQ(receive_all(connect_client()), "");
  // Admitted clients are still served.
  send_text(silent.back(), "GET /metrics HTTP/1.1\r\n\r\n");
  shutdown(silent.back(), SHUT_WR);
  EXPECT_THAT(receive_all(silent.back()), StartsWith("HTTP/1.1 200 OK\r\n"));
  disconnect_all();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (ask().empty()) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
}

TEST_F(MetricsServerTest, LongHead_IsRefused) {
  const int client = connect_client();
  send_text(client, "GET /metrics HTTP/1.1\r\n" + std::string(MetricsServer::kHeadBytesMax, 'a'));
  shutdown(client, SHUT_WR);
  EXPECT_THAT(receive_all(client), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(MetricsServerTest, SilentClient_LosesItsConnectionInTime) {
  const auto begin = std::chrono::steady_clock::now();
  const int client = connect_client();
  send_text(client, "GET /met");
  EXPECT_EQ(receive_all(client), "");
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(passed, MetricsServer::kPatience - std::chrono::milliseconds(100));
  EXPECT_LT(passed, 2 * MetricsServer::kPatience);
}

}  // namespace
}  // namespace gridmount::fuse
