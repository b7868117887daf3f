// The addresses on which a server listens. The functions parse HOST:PORT, resolve the host, check
// whether it is safe to listen on an address, and listen.
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

  // Parses a text such as "localhost:27017", "10.0.0.1:27017" or "[::1]:0". Fails with BadValue for
  // any other text, such as one without a port or a host.
  static Result<ListenAddress> parse(std::string_view text);
};

// Returns the addresses of the host. Fails with BadValue if the host cannot be resolved or has no
// address.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(const ListenAddress& address);

// Fails with InvalidOptions unless the address is a loopback address, or both `authentication` and
// `has_tls` are true. The message says which one is missing.
Status check_exposure(const asio::ip::tcp::endpoint& endpoint, bool authentication, bool has_tls);

// Returns the address and the port, such as "127.0.0.1:27017" or "[::1]:27017".
std::string text_of(const asio::ip::tcp::endpoint& endpoint);
// Returns whether `address` is a loopback address of IPv4 or IPv6. Also recognizes an IPv4 address
// that is mapped to IPv6.
bool is_loopback(const asio::ip::address& address);

struct TcpListener {
  FileDescriptor socket;
  asio::ip::tcp::endpoint endpoint;  // has the port that the system has chosen if 0 was given
};
// Listens on all the endpoints, which must have the same port. If the port is 0, chooses one port
// for all of them. Fails with IoError if it cannot listen on one of them.
Result<std::vector<TcpListener>> listen_on(const std::vector<asio::ip::tcp::endpoint>& endpoints);

}  // namespace gridmount::wire
