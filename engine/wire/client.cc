#include "engine/wire/client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace gridmount::wire {

std::string host_of(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  if (host.size() < 2 || host.front() != '[') return host;
  host = host.substr(1, host.size() - 2);
  std::array<uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return host;
  // An address "::ffff:1.2.3.4" is a mapped IPv4 address.
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) {
    ::inet_ntop(AF_INET, bytes.data() + kMapped.size(), text.data(), text.size());
    return text.data();
  }
  constexpr size_t kNetworkBytes = 8;
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), uint8_t{0});
  ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data() + std::string("/64");
}

}  // namespace gridmount::wire
