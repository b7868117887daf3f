// What the machine is called, and where the server listens.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "engine/wire/service.h"

namespace gridmount::wire {

std::string host_name();

// Of TCP; 0 without a server, or where it only has a socket of its own.
uint16_t port_of(const Service::State& state);

// "name:27017"; the name alone without a port.
std::string host_and_port(const Service::State& state);

}  // namespace gridmount::wire
