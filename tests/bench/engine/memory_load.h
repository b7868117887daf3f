// Measures the cost of memory access at a store's size. A program that reads at random positions of
// more memory than the processor caches hold must wait for memory and for address translation,
// whatever else it does.
#pragma once

#include <filesystem>

namespace gridmount::bench {

// Returns the seconds of processor time for one load from a random position of the file. The file
// is mapped, and is in the kernel's memory and in the page tables. The position of each load
// depends on the result of the load before it. Throws std::runtime_error if the file cannot be
// mapped.
double seconds_for_a_random_load(const std::filesystem::path& file);

}  // namespace gridmount::bench
