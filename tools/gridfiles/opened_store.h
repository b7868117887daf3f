// The store that gridfiles works on: a store folder opened directly, a store reached through the
// process that owns it, or a server.
//
// Not thread-safe. Only the main thread may call the function, because it may read from the
// terminal.
#pragma once

#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/store.h"
#include "tools/gridfiles/options.h"

namespace gridmount::tools {

struct OpenedStore {
  std::unique_ptr<engine::Store> store;
  std::string address;    // for the log: the folder, or the URI without_secrets()
  bool is_alone = false;  // no other process has the store open
};

// Opens the store that `options` name. A store that a mount or a server owns is reached through its
// owner. If `writes` is true, fails for a folder that cannot be written, but does not ask a server.
Result<OpenedStore> open_store_of(const Options& options, bool writes);

}  // namespace gridmount::tools
