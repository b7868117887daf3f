// gridstore check: reads everything in a store and reports what is wrong.
#pragma once

#include <filesystem>
#include <string>

#include "engine/exit_status.h"

namespace gridmount::tools {

struct CheckOptions {
  std::filesystem::path store;
  std::string database;  // GridFS is checked in this one only; empty: in all
  bool json = false;
};

// Prints the findings on stdout and failures on stderr. A store in use is checked beside its owner,
// as it is when the check begins: the structure on one snapshot, the content on another.
ExitStatus run_check(const CheckOptions& options);

}  // namespace gridmount::tools
