// HOST:PORT as people write it, what it stands for, and who may be let in there.
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

  // "localhost:27017", "10.0.0.1:27017", "[::1]:0". Without a port, or without a host, BadValue.
  static Result<ListenAddress> parse(std::string_view text);
};

// What the host resolves to: at least one.
Result<std::vector<asio::ip::tcp::endpoint>> resolve(const ListenAddress& address);

// Without log-in, or without TLS, only a loopback address: InvalidOptions that says what is
// missing.
Status check_exposure(const asio::ip::tcp::endpoint& endpoint, bool authentication, bool has_tls);

// "127.0.0.1:27017", "[::1]:27017".
std::string text_of(const asio::ip::tcp::endpoint& endpoint);
// Also of an IPv4 address in IPv6's clothes.
bool is_loopback(const asio::ip::address& address);

struct TcpListener {
  FileDescriptor socket;
  asio::ip::tcp::endpoint endpoint;  // with the port that was chosen, where it was 0
};
// On all the endpoints, which have one port; where that is 0, one is chosen for all.
Result<std::vector<TcpListener>> listen_on(const std::vector<asio::ip::tcp::endpoint>& endpoints);

}  // namespace gridmount::wire
