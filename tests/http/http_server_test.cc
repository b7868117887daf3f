// Goal: connections are kept, refused and ended as HttpLimits says, and the server can always be
// ended.
// Method: raw sockets to a server on a port that it chooses, with small limits.
#include "http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/gridfs/bucket_fixture.h"
#include "tests/http/http_client.h"

namespace gridmount::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public gridfs::BucketFixture {
 protected:
  void SetUp() override {
    // No test depends on times that it does not set itself.
    limits_.head_patience = std::chrono::minutes(5);
    limits_.idle_patience = std::chrono::minutes(5);
    limits_.send_patience = std::chrono::minutes(5);
  }
  void TearDown() override { disconnect_all(); }

  Status start(const std::string& address = "127.0.0.1:0") {
    HttpServerOptions options;
    options.address = address;
    options.limits = limits_;
    SiteOptions site;
    site.database = bucket().database().name();
    if (is_writable_) site.write.emplace();
    GM_ASSIGN(server_, serve_files(store(), site, options));
    clients_.set_address(server_->addresses().at(0));
    return {};
  }
  void stop() { server_.reset(); }

  int connect_client() { return clients_.connect(); }
  void disconnect_all() { clients_.disconnect_all(); }
  static void send_text(int client, std::string_view text) { HttpClients::send_text(client, text); }
  static std::string receive_all(int client) { return HttpClients::receive_all(client); }
  std::string ask(std::string_view request) { return clients_.ask(request); }
  // Returns a request of the file, after which the connection ends or stays.
  std::string get(const std::string& name, const std::string& further = "Connection: close\r\n") {
    return "GET /" + bucket().options().name + "/" + name + " HTTP/1.1\r\nHost: localhost\r\n" +
           further + "\r\n";
  }

  HttpLimits limits_;
  bool is_writable_ = false;

 private:
  std::unique_ptr<HttpServer> server_;
  HttpClients clients_;
};

TEST_F(HttpServerTest, Requests_AreAnsweredOneAfterTheOther) {
  upload("a", "first");
  upload("b", "second");
  must(start());
  // Sends both requests at once, as clients that pipeline do.
  const std::string both = ask(get("a", "") + get("b"));
  EXPECT_THAT(both, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(both, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(both, HasSubstr("\r\n\r\nfirstHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(both, EndsWith("\r\n\r\nsecond"));
}

TEST_F(HttpServerTest, Listing_IsSentInChunks_OrEndsWithTheConnection) {
  upload("a", "first");
  must(start());
  const std::string reply = ask(get("?format=json"));
  EXPECT_THAT(reply, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(reply, EndsWith("\n]}\n\r\n0\r\n\r\n"));
  const std::string old = ask("GET /?format=json HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(old, StartsWith("HTTP/1.0 200 OK\r\n"));
  EXPECT_THAT(old, EndsWith("]}\n"));
}

TEST_F(HttpServerTest, Garbage_IsRefused) {
  must(start());
  for (const char* request :
       {"\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /.. HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"}) {
    const int client = connect_client();
    send_text(client, request);
    shutdown(client, SHUT_WR);
    EXPECT_THAT(receive_all(client), StartsWith("HTTP/1.1 400 Bad Request\r\n")) << request;
  }
}

TEST_F(HttpServerTest, BodyOfARequest_EndsTheConnection) {
  upload("a", "first");
  must(start());
  const std::string reply = ask(get("a", "Content-Length: 5\r\n") + "hello" + get("a"));
  EXPECT_THAT(reply, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\nfirst"));
  EXPECT_THAT(ask("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"),
              StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
}

TEST_F(HttpServerTest, Head_BeyondItsBytes_IsRefused) {
  limits_.head_bytes = 2000;
  must(start());
  EXPECT_THAT(ask(get("a", "X: " + std::string(2000, 'x') + "\r\n")),
              StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
  EXPECT_THAT(ask("GET /" + std::string(10'000, 'x')), StartsWith("HTTP/1.1 431 "));
  // A reply to HEAD has no body, also if it refuses the request.
  EXPECT_THAT(ask("HEAD / HTTP/1.1\r\nX: " + std::string(10'000, 'x')), EndsWith("\r\n\r\n"));
  EXPECT_THAT(ask(get("a", "X: " + std::string(1800, 'x') + "\r\nConnection: close\r\n")),
              StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpServerTest, Fields_TooMany_AreRefused) {
  limits_.fields = 10;
  must(start());
  std::string further = "Connection: close\r\n";
  for (int i = 0; i < 8; ++i) further += "X: y\r\n";
  EXPECT_THAT(ask(get("a", further)), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask(get("a", further + "X: y\r\n")), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, Target_BeyondItsBytes_IsRefused) {
  limits_.target_bytes = 100;
  must(start());
  EXPECT_THAT(ask(get(std::string(50, 'x'))), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask(get(std::string(100, 'x'))), StartsWith("HTTP/1.1 414 URI Too Long\r\n"));
}

TEST_F(HttpServerTest, Connections_BeyondTheLimit_AreRefusedOrClosed) {
  upload("a", "first");
  limits_.connections = 2;
  limits_.refusals = 1;
  must(start());
  std::vector<int> kept;
  for (int i = 0; i < 2; ++i) {
    kept.push_back(connect_client());
    // A reply shows that the connection was accepted.
    send_text(kept.back(), get("a", ""));
    char byte = 0;
    EXPECT_EQ(recv(kept.back(), &byte, 1, 0), 1);
  }
  const int refused = connect_client();
  // The server refuses one client at a time, so it closes this connection at once.
  EXPECT_EQ(receive_all(connect_client()), "");
  send_text(refused, get("a"));
  const std::string reply = receive_all(refused);
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nRetry-After: 1\r\n"));
  // The others are still served.
  send_text(kept[0], get("a"));
  EXPECT_THAT(receive_all(kept[0]), EndsWith("\r\n\r\nfirst"));
}

TEST_F(HttpServerTest, SilentClients_LoseTheirConnections) {
  limits_.head_patience = std::chrono::milliseconds(50);
  must(start());
  EXPECT_EQ(receive_all(connect_client()), "");
  EXPECT_EQ(ask("GET /a HTTP/1.1\r\n"), "");
}

TEST_F(HttpServerTest, SlowHead_EndsTheConnection_HoweverOftenBytesCome) {
  limits_.head_patience = std::chrono::milliseconds(100);
  must(start());
  const int client = connect_client();
  // Ends when the server has closed the connection: a send then fails at the latest.
  while (send(client, "X", 1, MSG_NOSIGNAL) == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(receive_all(client), "");
}

TEST_F(HttpServerTest, IdleConnections_AreClosed) {
  upload("a", "first");
  limits_.idle_patience = std::chrono::milliseconds(50);
  must(start());
  EXPECT_THAT(ask(get("a", "")), EndsWith("\r\n\r\nfirst"));
}

TEST_F(HttpServerTest, ClientThatDoesNotRead_LosesItsConnection) {
  // The file is larger than the buffers of two sockets.
  upload("large", std::string(32'000'000, 'x'));
  limits_.send_patience = std::chrono::milliseconds(100);
  must(start());
  const int client = connect_client();
  send_text(client, get("large"));
  // The server closes its end although the client reads nothing.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (send(client, "X", 1, MSG_NOSIGNAL) == 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(HttpServerTest, End_DoesNotWaitForClients) {
  upload("large", std::string(32'000'000, 'x'));
  must(start());
  const int silent = connect_client();
  const int reading = connect_client();
  send_text(reading, get("large"));
  char byte = 0;
  EXPECT_EQ(recv(reading, &byte, 1, 0), 1);
  stop();
  EXPECT_EQ(receive_all(silent), "");
  EXPECT_LT(receive_all(reading).size(), 32'000'000U);
}

class HttpUploadTest : public HttpServerTest {
 protected:
  void SetUp() override {
    HttpServerTest::SetUp();
    upload("a", "first");
    is_writable_ = true;
  }
  std::string put(const std::string& name, const std::string& further) {
    return "PUT /" + bucket().options().name + "/" + name + " HTTP/1.1\r\nHost: localhost\r\n" +
           further + "\r\n";
  }
};

TEST_F(HttpUploadTest, Bodies_AreTaken_AndTheConnectionStays) {
  must(start());
  const std::string replies = ask(
      put("b", "Content-Length: 6\r\n") + "second" + put("c", "Transfer-Encoding: chunked\r\n") +
      "3\r\nthi\r\n2;x=y\r\nrd\r\n0\r\nTrailer: z\r\n\r\n" + put("d", "Content-Length: 0\r\n") +
      get("b", "") + get("c", "") + get("d"));
  EXPECT_THAT(replies, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(replies, HasSubstr("\r\n\r\nsecondHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(replies, HasSubstr("\r\n\r\nthirdHTTP/1.1 200 OK\r\n"));
}

// However many changes wait for another change, they leave threads for reading.
TEST_F(HttpUploadTest, ChangesThatWait_DoNotHoldUpReading) {
  upload("a", "first");
  must(start());
  std::unique_ptr<engine::Transaction> change =
      must(store().begin(engine::TransactionKind::kMayBlock));
  std::vector<int> waiting;
  for (size_t i = 0; i < kHttpThreads + 2 * kHttpChangeThreads; ++i) {
    waiting.push_back(connect_client());
    send_text(waiting.back(), "MKCOL /" + bucket().options().name + "/d" + std::to_string(i) +
                                  " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  std::future<void> reading = std::async(std::launch::async, [&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_THAT(ask(get("a")), EndsWith("\r\n\r\nfirst"));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  EXPECT_EQ(reading.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  change.reset();
  reading.wait();
  for (const int client : waiting) {
    EXPECT_THAT(receive_all(client), StartsWith("HTTP/1.1 201 Created\r\n"));
  }
}

TEST_F(HttpUploadTest, Expectation_IsAnsweredBeforeTheBody_UnlessItIsNotWanted) {
  must(start());
  const int client = connect_client();
  send_text(client, put("b", "Expect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n"));
  EXPECT_EQ(HttpClients::receive_until(client, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  send_text(client, "xyz");
  EXPECT_THAT(receive_all(client), StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(ask(put("a", "Expect: 100-continue\r\nContent-Length: 3\r\nIf-None-Match: *\r\n")),
              StartsWith("HTTP/1.1 412 Precondition Failed\r\n"));
}

TEST_F(HttpUploadTest, BodyThatIsCutOff_LeavesNothing) {
  must(start());
  for (const std::string& begin : {put("a", "Content-Length: 10\r\n") + "only",
                                   put("a", "Transfer-Encoding: chunked\r\n") + "4\r\nonly\r\n"}) {
    const int client = connect_client();
    send_text(client, begin);
    shutdown(client, SHUT_WR);
    EXPECT_EQ(receive_all(client), "");
  }
  EXPECT_THAT(ask(put("a", "Transfer-Encoding: chunked\r\n") + "x\r\n"),
              StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(ask(get("a")), EndsWith("\r\n\r\nfirst"));
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(count(bucket().chunks()), 1);
}

TEST_F(HttpUploadTest, SilentUpload_EndsItsConnection) {
  limits_.receive_patience = std::chrono::milliseconds(50);
  must(start());
  EXPECT_EQ(ask(put("a", "Content-Length: 10\r\n") + "only"), "");
  EXPECT_THAT(ask(get("a")), EndsWith("\r\n\r\nfirst"));
}

TEST_F(HttpUploadTest, EndDuringUploads_LeavesNothing) {
  must(start());
  const int client = connect_client();
  send_text(client, put("b", "Content-Length: 30000000\r\n"));
  send_text(client, std::string(10'000'000, 'x'));
  stop();
  receive_all(client);
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(count(bucket().detached()), 0);
}

// Does not answer before the test tells it to.
class HangingHandler final : public RequestHandler {
 public:
  HangingHandler(std::promise<void>& is_asked, std::shared_future<void> may_answer)
      : is_asked_(is_asked), may_answer_(std::move(may_answer)) {}
  Answer answer(const Request&) const override {
    is_asked_.set_value();
    may_answer_.wait();
    return text_reply(200, "text/plain", "late", false);
  }

 private:
  std::promise<void>& is_asked_;
  const std::shared_future<void> may_answer_;
};

TEST(HttpServerEnd, AnswerThatHangs_IsWaitedForInVain) {
  std::promise<void> is_asked;
  std::promise<void> may_answer;
  HttpServerOptions options;
  options.address = "127.0.0.1:0";
  auto started = HttpServer::start(
      std::make_unique<HangingHandler>(is_asked, may_answer.get_future().share()), options);
  ASSERT_TRUE(started) << started.error().message();
  HttpServer& server = **started;
  HttpClients clients;
  clients.set_address(server.addresses().at(0));
  HttpClients::send_text(clients.connect(), "GET / HTTP/1.1\r\n\r\n");
  is_asked.get_future().wait();
  EXPECT_FALSE(server.end(std::chrono::milliseconds(1)));
  may_answer.set_value();
  EXPECT_TRUE(server.end(std::chrono::minutes(5)));
}

TEST_F(HttpServerTest, OtherAddresses_AreRefused) {
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    EXPECT_FALSE(HttpServer::check_address(address));
    const Status started = start(address);
    ASSERT_FALSE(started) << address;
    EXPECT_EQ(started.error().code(), ErrorCode::kInvalidOptions);
    EXPECT_THAT(started.error().message(), HasSubstr("only loopback addresses"));
  }
  for (const char* address : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":80"}) {
    const Status started = start(address);
    ASSERT_FALSE(started) << address;
    EXPECT_EQ(started.error().code(), ErrorCode::kBadValue);
  }
}

}  // namespace
}  // namespace gridmount::http
