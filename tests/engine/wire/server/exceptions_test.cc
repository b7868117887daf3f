// Goal: an exception of a library, in practice for lack of memory, ends one connection at most. The
// server goes on.
// Method: a function that is called by an acceptor, or by a connection, throws.
#include <gtest/gtest.h>

#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <memory>
#include <new>

#include "engine/wire/server/acceptor.h"
#include "engine/wire/server/connection.h"
#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using std::chrono::steady_clock;

TEST(Exceptions, OfOneConnection_LeaveTheAddressOpen) {
  asio::io_context io;
  asio::ip::tcp::acceptor listening(io, {asio::ip::address_v4::loopback(), 0});
  listening.native_non_blocking(true);
  int accepted = 0;
  const auto acceptor =
      std::make_shared<Acceptor>(io, listening.native_handle(), "test", [&](FileDescriptor) {
        if (++accepted == 1) throw std::bad_alloc();
      });
  acceptor->start();
  for (const int expected : {1, 2}) {
    asio::ip::tcp::socket client(io);
    client.connect(listening.local_endpoint());
    const auto deadline = steady_clock::now() + std::chrono::seconds(10);
    while (accepted < expected && steady_clock::now() < deadline) {
      // As in the server, an exception does not end the thread.
      try {
        io.restart();
        io.run_for(std::chrono::milliseconds(10));
      } catch (const std::bad_alloc&) {
      }
    }
    EXPECT_EQ(accepted, expected);
  }
  acceptor->stop();
}

// Receives the header of a message. One of the calls throws.
class ThrowingTransport final : public Transport {
 public:
  enum class Call { kHandshake, kCertificate, kReadSome, kReadNow };

  ThrowingTransport(asio::io_context& io, Call throwing)
      : Transport(-1), io_(io), throwing_(throwing) {}

  void shake_hands(Done done) override {
    fail_in(Call::kHandshake);
    asio::post(io_, [done = std::move(done)] { done({}, 0); });
  }
  void read_some(std::span<uint8_t> into, Done done) override {
    fail_in(Call::kReadSome);
    const Bytes message = op_msg(command("ping", 1));
    std::copy_n(message.begin(), into.size(), into.begin());
    asio::post(io_, [done = std::move(done), count = into.size()] { done({}, count); });
  }
  void write_some(const Pieces&, Done) override { FAIL(); }
  size_t read_now(std::span<uint8_t>) override {
    fail_in(Call::kReadNow);
    return 0;
  }
  size_t write_now(const Pieces&) override { return 0; }
  std::string certificate_subject() override {
    fail_in(Call::kCertificate);
    return {};
  }
  bool is_tls() const override { return false; }

 private:
  void fail_in(Call call) const {
    if (call == throwing_) throw std::bad_alloc();
  }

  asio::io_context& io_;
  const Call throwing_;
};

TEST(Exceptions, OnAnIoThread_EndTheConnection) {
  using Call = ThrowingTransport::Call;
  for (const Call call : {Call::kHandshake, Call::kCertificate, Call::kReadSome, Call::kReadNow}) {
    asio::io_context io;
    asio::thread_pool workers(1);
    FakeRequestHandler handler;
    const ServerLimits limits;
    const auto deferred = std::make_shared<DeferredRequests>(io);
    ConnectionTable table;
    ConnectionContext context{io, workers, handler, limits, *deferred, table};
    const auto connection = std::make_shared<Connection>(
        context, std::make_unique<ThrowingTransport>(io, call), 1, Peer{});
    table.add(connection);
    EXPECT_NO_THROW(connection->start());
    EXPECT_NO_THROW(io.run());
    EXPECT_EQ(table.size(), 0u) << static_cast<int>(call);
    workers.join();
    table.remove(*connection);
  }
}

}  // namespace
}  // namespace gridmount::wire
