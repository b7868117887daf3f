// The store that gridfiles works on: a store folder opened directly, a store reached through the
// process that owns it, or a server.
//
// Not thread-safe. Only the main thread may call open_store_of(), which may ask for a password on
// the terminal.
#pragma once

#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/store.h"
#include "tools/gridfiles/options.h"

namespace gridmount::tools {

struct OpenedStore {
  std::unique_ptr<engine::Store> store;
  std::string address;  // for the log: the folder, or the result of without_secrets(URI)
  // The folder was opened directly. If it was opened for writing, no other process has it open.
  bool is_alone = false;
};

// Opens the store that `options` name. A store that a mount or a server owns is reached through its
// owner. If `writes` is true, fails if a folder that is opened directly cannot be written. Does not
// check whether the user may write to a store that is reached through its owner or a server.
Result<OpenedStore> open_store_of(const Options& options, bool writes);

}  // namespace gridmount::tools
