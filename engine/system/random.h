// Random bytes from the kernel.
#pragma once

#include <array>
#include <cstdint>

#include "engine/base/error.h"

namespace gridmount::system {

using RandomId = std::array<uint8_t, 16>;

Result<RandomId> random_id();

}  // namespace gridmount::system
