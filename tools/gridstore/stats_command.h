// gridstore stats: what a store holds and what it occupies.
#pragma once

#include <filesystem>

#include "engine/exit_status.h"

namespace gridmount::tools {

struct StatsOptions {
  std::filesystem::path store;
  bool json = false;  // one document: {store, owner, fileBytes, ..., databases: [{db, ...}]}
};

// Prints them on stdout and failures on stderr. Works on a store in use, beside its owner. Reads no
// documents: the counts are kept.
ExitStatus run_stats(const StatsOptions& options);

}  // namespace gridmount::tools
