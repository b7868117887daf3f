// What the machine is called.
//
// Thread-safe.
#pragma once

#include <string>

namespace gridmount::wire {

std::string host_name();

}  // namespace gridmount::wire
