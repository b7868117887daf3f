// Shows sizes to people.
//
// Thread-safe: a function without state.
#pragma once

#include <cstdint>
#include <string>

namespace gridmount {

// Returns the size in the largest binary unit, up to TiB, in which the number is at least 1:
// "17 B", "1.5 KiB". Numbers in units above B have one decimal.
std::string in_byte_units(uint64_t bytes);

}  // namespace gridmount
