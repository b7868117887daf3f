// What every part of a repair of GridFS content works with.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/store.h"
#include "tools/gridstore/findings.h"
#include "tools/gridstore/keep_folder.h"

namespace gridmount::tools {

struct RepairContext {
  engine::Store& store;
  KeepFolder& keep;
  Findings& findings;          // told of what is mended
  std::chrono::seconds grace;  // chunks made since may be of an upload that was interrupted lately
};

// What one transaction of a repair changes at most.
inline constexpr uint64_t kRepairDocumentsMax = 1000;
inline constexpr uint64_t kRepairBytesMax = 16 * 1024 * 1024;

// What `transaction` takes out is kept before it is taken out.
inline Status commit_kept(RepairContext& context, engine::Transaction& transaction) {
  GM_TRY(context.keep.sync());
  return transaction.commit();
}

}  // namespace gridmount::tools
