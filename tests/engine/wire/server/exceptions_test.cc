// Goal: an exception of a library, in practice for lack of memory, ends one connection at most. The
// server goes on.
// Method: a function that is called by an acceptor throws.
#include <gtest/gtest.h>

#include <asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <new>

#include "engine/wire/server/acceptor.h"

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

}  // namespace
}  // namespace gridmount::wire
