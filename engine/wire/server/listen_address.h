// The addresses on which a server listens: parsing HOST:PORT, resolving it, and checking that it is
// safe to listen there.
//
// Thread-safe: plain values and functions without state.
#pragma once

#include <asio/ip/tcp.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/wire/server/file_descriptor.h"

namespace gridmount::wire {

struct ListenAddress {
  std::string host;  // a name, or an address without brackets
  uint16_t port = 0;

  // Parses "localhost:27017", "10.0.0.1:27017", "[::1]:0". Fails with BadValue if the port or the
  // host is missing.
  static Result<ListenAddress> parse(std::string_view text);
};

// Returns the addresses of the host, at least one.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(const ListenAddress& address);

// Fails with InvalidOptions unless the address is a loopback address, or both log-in and TLS are
// required. The message names what is missing.
Status check_exposure(const asio::ip::tcp::endpoint& endpoint, bool authentication, bool has_tls);

// Returns "127.0.0.1:27017", "[::1]:27017".
std::string text_of(const asio::ip::tcp::endpoint& endpoint);
// Also recognizes an IPv4 loopback address that is mapped to IPv6.
bool is_loopback(const asio::ip::address& address);

struct TcpListener {
  FileDescriptor socket;
  asio::ip::tcp::endpoint endpoint;  // with the port that the system chose if 0 was given
};
// Listens on all the endpoints, which must have the same port. If it is 0, chooses one port for all
// of them.
Result<std::vector<TcpListener>> listen_on(const std::vector<asio::ip::tcp::endpoint>& endpoints);

}  // namespace gridmount::wire
