#include "engine/wire/server/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace gridmount::wire {
namespace {

using asio::ip::tcp;

// A port that is free on one address may be in use on another, so listen_on() tries several ports.
constexpr int kPortTriesMax = 20;

tl::unexpected<Error> refuse(const tcp::endpoint& endpoint, const char* call) {
  return fail(ErrorCode::kIoError, "cannot listen on " + text_of(endpoint) + ": " + call + ": " +
                                       std::generic_category().message(errno));
}

Result<FileDescriptor> bound_socket(const tcp::endpoint& endpoint) {
  const int family = endpoint.data()->sa_family;
  FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return refuse(endpoint, "socket");
  const int on = 1;
  // Lets the server use a port again directly after its predecessor has ended.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return refuse(endpoint, "bind");
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) return refuse(endpoint, "listen");
  return fd;
}

Result<tcp::endpoint> local_endpoint(const FileDescriptor& fd) {
  tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(fd.get(), endpoint.data(), &size) != 0) return refuse(endpoint, "getsockname");
  endpoint.resize(size);
  return endpoint;
}

Result<std::vector<TcpListener>> listen_once(const std::vector<tcp::endpoint>& endpoints) {
  std::vector<TcpListener> listeners;
  for (tcp::endpoint endpoint : endpoints) {
    if (endpoint.port() == 0 && !listeners.empty()) endpoint.port(listeners[0].endpoint.port());
    GM_ASSIGN(FileDescriptor fd, bound_socket(endpoint));
    GM_ASSIGN(const tcp::endpoint bound, local_endpoint(fd));
    listeners.push_back({std::move(fd), bound});
  }
  return listeners;
}

}  // namespace

Result<ListenAddress> ListenAddress::parse(std::string_view text) {
  const auto refuse_text = [&](const char* why) {
    return fail(ErrorCode::kBadValue, "'" + std::string(text) +
                                          "' is not an address to listen on: " + why +
                                          " (HOST:PORT, [IPv6]:PORT)");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse_text("it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    return refuse_text("an IPv6 address must be in brackets");
  }
  if (host.empty()) return refuse_text("it has no host");
  ListenAddress address{std::string(host), 0};
  const char* const end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, address.port);
  if (error != std::errc() || parsed != end) {
    return refuse_text("the port must be a number of at most 65535");
  }
  return address;
}

Result<std::vector<tcp::endpoint>> resolve(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::kBadValue,
                "cannot listen on '" + address.host + "': " + std::string(::gai_strerror(error)));
  }
  std::vector<tcp::endpoint> endpoints;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    tcp::endpoint endpoint;
    if (next->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), next->ai_addr, next->ai_addrlen);
    endpoint.resize(next->ai_addrlen);
    if (std::find(endpoints.begin(), endpoints.end(), endpoint) == endpoints.end()) {
      endpoints.push_back(endpoint);
    }
  }
  ::freeaddrinfo(found);
  if (endpoints.empty()) {
    return fail(ErrorCode::kBadValue, "cannot listen on '" + address.host + "': it has no address");
  }
  return endpoints;
}

Status check_exposure(const tcp::endpoint& endpoint, bool authentication, bool has_tls) {
  if (is_loopback(endpoint.address())) return {};
  if (!authentication) {
    return fail(ErrorCode::kInvalidOptions,
                "will not listen on " + text_of(endpoint) +
                    " without authentication: without it only loopback addresses are allowed");
  }
  if (!has_tls) {
    return fail(ErrorCode::kInvalidOptions,
                "will not listen on " + text_of(endpoint) +
                    " without TLS: an address that others can reach needs a certificate");
  }
  return {};
}

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

bool is_loopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

Result<std::vector<TcpListener>> listen_on(const std::vector<tcp::endpoint>& endpoints) {
  const bool is_free_to_choose =
      std::any_of(endpoints.begin(), endpoints.end(), [](const auto& e) { return e.port() == 0; });
  for (int attempt = 1;; ++attempt) {
    Result<std::vector<TcpListener>> listeners = listen_once(endpoints);
    if (listeners || !is_free_to_choose || attempt == kPortTriesMax) return listeners;
  }
}

}  // namespace gridmount::wire
