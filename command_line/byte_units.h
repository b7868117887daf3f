// Sizes for people.
//
// Thread-safe: a function without state.
#pragma once

#include <cstdint>
#include <string>

namespace gridmount {

// Returns the size with the largest binary unit of which there is at least one: "17 B", "1.5 KiB",
// up to TiB. All but bytes have one decimal.
std::string in_byte_units(uint64_t bytes);

}  // namespace gridmount
