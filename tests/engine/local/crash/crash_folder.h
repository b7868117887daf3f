// The folder for the stores of crash tests. It is in memory if there is room, because nothing is
// synced anyway.
#pragma once

#include <filesystem>

namespace gridmount::local::testing {

// Makes a new folder and returns its path without symlinks. The caller must remove the folder.
std::filesystem::path make_crash_folder();

}  // namespace gridmount::local::testing
