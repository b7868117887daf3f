// Random bytes from the kernel.
//
// Thread-safety: a thread-safe function.
#pragma once

#include <array>
#include <cstdint>

#include "engine/base/error.h"

namespace gridmount::system {

using RandomId = std::array<uint8_t, 16>;

// Returns 16 random bytes. Fails with the error of system_error() if getrandom(2) fails.
Result<RandomId> random_id();

}  // namespace gridmount::system
