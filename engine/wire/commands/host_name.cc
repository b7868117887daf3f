#include "engine/wire/commands/host_name.h"

#include <unistd.h>

#include <array>

#include "engine/wire/service_state.h"

namespace gridmount::wire {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

uint16_t port_of(const Service::State& state) {
  const ServerStats* const stats = state.stats();
  return stats != nullptr ? stats->port() : uint16_t{0};
}

std::string host_and_port(const Service::State& state) {
  const uint16_t port = port_of(state);
  return port == 0 ? host_name() : host_name() + ":" + std::to_string(port);
}

}  // namespace gridmount::wire
