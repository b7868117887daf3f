// The limits for the clients of a server: how much of the server they can occupy, and for how long.
//
// A plain value, so thread-safe.
#pragma once

#include <chrono>
#include <cstddef>

namespace gridmount::http {

struct HttpLimits {
  // Connections at a time. Further ones get the status 503.
  size_t connections = 256;
  // How many connections get that reply at a time. Further ones are closed without a reply.
  size_t refusals = 64;
  // The bytes of the head of a request. A longer head gets the status 431.
  size_t head_bytes = size_t{16} * 1024;
  // The fields of a head. A head with more fields gets the status 431.
  size_t fields = 100;
  // The bytes of the target of a request. A longer target gets the status 414.
  size_t target_bytes = size_t{8} * 1024;
  // How long a client may take to send a head, from its first byte to its last. A new connection
  // may also wait this long before the first byte.
  std::chrono::milliseconds head_patience{10'000};
  // How long a connection may be idle between two requests.
  std::chrono::milliseconds idle_patience{30'000};
  // How long a client may take to receive one piece of a body (Body::next()).
  std::chrono::milliseconds send_patience{30'000};
  // How long a client may take to send further bytes of a body.
  std::chrono::milliseconds receive_patience{30'000};
};

}  // namespace gridmount::http
