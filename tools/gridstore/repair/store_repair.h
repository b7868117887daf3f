// gridstore check --repair: mends the structure, then the GridFS content of every bucket.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/local/local_store.h"
#include "engine/store.h"
#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// A store that is open for writing and that nobody else uses, and how it was opened.
struct StoreForRepair {
  std::filesystem::path folder;
  local::OpenOptions options;
  std::unique_ptr<engine::Store> store;
};

// local::salvage_store() of a store that nobody has open. What it says goes to the findings.
Status make_store_anew(const std::filesystem::path& folder, KeepFolder& keep, Findings& findings,
                       Whereabouts& whereabouts);

// What is below the documents. Where damage is beyond what can be mended in place, the store is
// made anew, and opened again. What was mended, and what could not be, goes to the findings. False
// if something could not be: then content is better left as it is. An error is one of the device or
// of the folder.
Result<bool> repair_structure(StoreForRepair& repaired, KeepFolder& keep, Findings& findings,
                              Whereabouts& whereabouts);

// Of the GridFS content that of `databases`, in a store whose structure is sound. Says where it is
// as it goes. Errors and findings as above.
Status repair_content(RepairContext& context, const std::vector<std::string>& databases,
                      Whereabouts& whereabouts);

// Everything is durable on return, and what was taken out has been said.
Status finish_repair(RepairContext& context);

}  // namespace gridmount::tools
