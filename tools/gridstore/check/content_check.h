// The part of `gridstore check` that is the same for stores in folders and for deployments: the
// options, and the check of the GridFS content of databases.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/store.h"
#include "tools/gridstore/check/findings.h"
#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

struct CheckOptions {
  StoreArgument store;
  std::string database;  // checks the GridFS content of this database only; empty: of all databases
  bool json = false;
  bool repair = false;
  // The folder for the data that a repair removes (keep_folder.h). If empty, the repair chooses a
  // name.
  std::filesystem::path keep;
  int64_t grace_seconds = 3600;  // a repair leaves younger chunks without a file
};

Findings::Format format_of(const CheckOptions& options);

// Returns the databases whose GridFS content is checked: the selected database, or all databases
// except the internal databases of a deployment. Fails with NamespaceNotFound if the selected
// database does not exist.
Result<std::vector<std::string>> databases_of(const CheckOptions& options, engine::Store& store,
                                              engine::Snapshot& snapshot);

// Checks all buckets of databases_of(). Reports damage as findings. If others use the store
// (`in_use`), recent chunks without a file are only a notice. Fails as databases_of() does, fails
// if the buckets of a database cannot be found, and fails if the check of a bucket fails for
// another reason than damage.
Status check_content(const CheckOptions& options, engine::Store& store, bool in_use,
                     Findings& findings, Whereabouts& whereabouts);

}  // namespace gridmount::tools
