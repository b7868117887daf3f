// What memory itself costs at a store's size: whoever reads at random in more than the processor's
// caches hold waits for memory, and for the translation of addresses, whatever he does there.
#pragma once

#include <filesystem>

namespace gridmount::bench {

// Seconds of processor time for one load from a random place of the file,
// which is mapped, in the kernel's memory and in the page tables; each load's place depends on what
// the one before has given. Throws std::runtime_error if the file cannot be mapped.
double seconds_for_a_random_load(const std::filesystem::path& file);

}  // namespace gridmount::bench
