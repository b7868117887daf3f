// Goal: requests get the metrics or an error, and clients of the page are held to its limits.
// Method: the page alone, and sockets to a server on a port that it chooses.
#include "http/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/http_client.h"

namespace gridmount::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string three_open_files() {
  return "gridmount_open_files 3\n";
}

int status_of_page(Request::Method method, const std::string& target) {
  Request request;
  request.method = method;
  request.target = target;
  return std::get<Reply>(MetricsPage(three_open_files).answer(request)).status;
}

TEST(MetricsPage, Others_AreToldWhatIsWrong) {
  EXPECT_EQ(status_of_page(Request::Method::kGet, "/metrics"), 200);
  EXPECT_EQ(status_of_page(Request::Method::kHead, "/metrics?name=a"), 200);
  EXPECT_EQ(status_of_page(Request::Method::kGet, "/"), 404);
  EXPECT_EQ(status_of_page(Request::Method::kGet, "/metrics/"), 404);
  EXPECT_EQ(status_of_page(Request::Method::kGet, "/metrics/more"), 404);
  EXPECT_EQ(status_of_page(Request::Method::kOther, "/metrics"), 405);
  EXPECT_EQ(status_of_page(Request::Method::kGet, "metrics"), 400);
}

class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = serve_metrics("127.0.0.1:0", three_open_files);
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(started).value();
    clients_.set_address(server_->addresses().at(0));
  }

 private:
  std::unique_ptr<HttpServer> server_;

 protected:
  HttpClients clients_;
};

TEST_F(MetricsServerTest, Get_HasTheMetrics_HeadTheirLength) {
  const std::string reply = clients_.ask("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nContent-Length: 23\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\ngridmount_open_files 3\n"));
  const std::string head = clients_.ask("HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("\r\nContent-Length: 23\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(MetricsServerTest, Connections_BeyondTheLimit_AreClosed) {
  std::vector<int> silent;
  for (size_t i = 0; i < 16; ++i) silent.push_back(clients_.connect());
  EXPECT_EQ(HttpClients::receive_all(clients_.connect()), "");
  // Admitted clients are still served.
  HttpClients::send_text(silent.back(), "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(HttpClients::receive_all(silent.back()), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(MetricsServerTest, LongHead_IsRefused) {
  EXPECT_THAT(clients_.ask("GET /metrics HTTP/1.1\r\n" + std::string(8192, 'a')),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(clients_.ask("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(MetricsServerTest, SilentClient_LosesItsConnectionInTime) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(clients_.ask("GET /met"), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4900));
}

}  // namespace
}  // namespace gridmount::http
