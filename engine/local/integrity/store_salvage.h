// Makes a new store from all readable data of a damaged one.
//
// Not thread-safe. Locks the store that it salvages.
#pragma once

#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/integrity/structure_repair.h"

namespace gridmount::local {

// Repairs what repair_structure() cannot. It makes a new store from all that can be read in
// `folder`, including damaged pages and pages that damage has cut off, and repairs the new store.
// The new store replaces the old one only when it is whole. After an error, or after an
// interruption at any moment by a kill or a power loss, the store is as it was. Needs free space
// for the new store. After the replacement `options.repaired` is called for records that were lost,
// pages that were left behind, and whatever was rebuilt. Fails with StoreLocked if the store is in
// use, and with DataCorruptionDetected if the catalog has lost the name of a collection that still
// has documents.
Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options);

}  // namespace gridmount::local
