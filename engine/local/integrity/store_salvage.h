// Makes a new store from all readable data of a damaged one.
//
// Not thread-safe. salvage_store() locks the store that it salvages.
#pragma once

#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/integrity/structure_repair.h"

namespace gridmount::local {

// Repairs damage that repair_structure() cannot repair. Makes a new store from everything that can
// be read in `folder`, and repairs the new store. Reads damaged pages too, and pages that can no
// longer be reached from the root of a tree. The new store replaces the old one when it is
// complete. The old data.mdb stays in the folder as data.mdb.damaged (with a number if that name is
// taken), if the file system has hard links; otherwise one of the lines for `options.repaired` says
// that it is gone. After an error, a kill or a power loss at any time, `folder` has either the
// data.mdb of the old store or the complete new store. Needs free disk space for the new store.
// After the replacement, calls `options.repaired` for lost records, for pages that could not be
// read, and for everything that was rebuilt. Fails with StoreLocked if the store is in use, with
// StoreDamaged if data.mdb cannot be trusted and no checkpoint has valid meta pages, and with
// DataCorruptionDetected if the store cannot be rebuilt: for example, the catalog has lost the name
// of a collection that still has documents, an entry of the catalog cannot be read, or the list of
// free pages is damaged as well as the trees. Also fails with the other errors of open(), such as
// NotAStore and StoreFormatTooNew, with OutOfDiskSpace or IoError if the new store cannot be
// written, and with the errors of `options.removed`.
Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options);

}  // namespace gridmount::local
