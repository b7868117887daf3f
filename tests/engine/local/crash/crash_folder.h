// The folder for the stores of crash tests. It is in memory if there is room, because nothing is
// synced anyway.
#pragma once

#include <filesystem>

namespace gridmount::local::testing {

// A new folder, by its name without symlinks; the caller removes it.
std::filesystem::path make_crash_folder();

}  // namespace gridmount::local::testing
