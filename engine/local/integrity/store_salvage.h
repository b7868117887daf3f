// Makes a new store from all readable data of a damaged one.
//
// Not thread-safe. Locks the store that it salvages.
#pragma once

#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/integrity/structure_repair.h"

namespace gridmount::local {

// Repairs damage that repair_structure() cannot repair. Makes a new store from everything that can
// be read in `folder`, including damaged pages and pages to which no undamaged page leads, and
// repairs the new store. The new store replaces the old one only when it is complete. After an
// error, or after an interruption at any time by a kill or a power loss, the store is unchanged.
// Needs free disk space for the new store. After the replacement, calls `options.repaired` for lost
// records, for pages that could not be read, and for everything that was rebuilt. Fails with
// StoreLocked if the store is in use, and with DataCorruptionDetected if the store cannot be
// rebuilt: for example, the catalog has lost the name of a collection that still has documents, an
// entry of the catalog cannot be read, or the list of free pages is damaged as well as the trees.
Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options);

}  // namespace gridmount::local
