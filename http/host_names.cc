#include "http/host_names.h"

#include <arpa/inet.h>

#include <algorithm>

#include "http/request.h"

namespace gridmount::http {

namespace {

bool is_loopback_address(const std::string& text) {
  in_addr v4{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

bool HostNames::allows(std::string_view host) const {
  host = trimmed(host);
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (host.find(':') == std::string_view::npos) return false;
  } else {
    const size_t colon = std::min(host.find(':'), host.size());
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (!port.empty() &&
      (port[0] != ':' || port.find_first_not_of("0123456789", 1) != std::string_view::npos)) {
    return false;
  }
  // A name may end with a dot, which says that it is complete.
  if (host.ends_with('.')) host.remove_suffix(1);
  constexpr std::string_view kBelow = ".localhost";
  if (equals_ignoring_case(host, kBelow.substr(1))) return true;
  if (host.size() > kBelow.size() &&
      equals_ignoring_case(host.substr(host.size() - kBelow.size()), kBelow)) {
    return true;
  }
  if (is_loopback_address(std::string(host))) return true;
  return std::any_of(further_.begin(), further_.end(),
                     [&](const std::string& name) { return equals_ignoring_case(host, name); });
}

}  // namespace gridmount::http
