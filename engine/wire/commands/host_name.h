// The name of the machine, and the port on which the server listens.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "engine/wire/service.h"

namespace gridmount::wire {

// Returns the name of the machine, or "localhost" if the system does not tell it.
std::string host_name();

// Returns the TCP port, or 0 if there is no server or it listens only on its Unix socket.
uint16_t port_of(const Service::State& state);

// Returns for example "name:27017", or only the name if there is no port.
std::string host_and_port(const Service::State& state);

}  // namespace gridmount::wire
