// gridstore check --repair: repairs the structure of a store, then the GridFS content of every
// bucket.
//
// Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/local/integrity/structure_repair.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// A store that is open for writing and that no other process uses, with the arguments for opening
// it.
struct StoreForRepair {
  std::filesystem::path folder;
  local::OpenOptions options;
  std::unique_ptr<engine::Store> store;
};

// Calls local::salvage_store() on a store that no process has open. Each repair that
// salvage_store() reports becomes a finding.
Status make_store_anew(const std::filesystem::path& folder, KeepFolder& keep, Findings& findings,
                       Whereabouts& whereabouts);

// Repairs everything below the documents. If the damage cannot be repaired in place, rebuilds the
// store and opens it again. Each repair, and each problem that could not be repaired, becomes a
// finding. Returns false if something could not be repaired. The caller should then not repair the
// content. Fails if an error other than damage ends the check or the repair in place, or if the
// store cannot be opened again. Then `repaired.store` may be null. A failure of make_store_anew()
// becomes a finding.
Result<bool> repair_structure(StoreForRepair& repaired, KeepFolder& keep, Findings& findings,
                              Whereabouts& whereabouts);

// Repairs the GridFS content of `databases` in a store whose structure is sound. Tells
// `whereabouts` the name of each bucket before the repair of the bucket. Each repair, and each
// bucket that is too damaged to repair, becomes a finding. Fails for other errors.
Status repair_content(RepairContext& context, const std::vector<std::string>& databases,
                      Whereabouts& whereabouts);

// Makes everything durable, and reports the keep folder if the repair has used it.
Status finish_repair(RepairContext& context);

}  // namespace gridmount::tools
