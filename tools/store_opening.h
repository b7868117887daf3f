// Opening a store from a program that runs for one command.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "engine/base/error.h"
#include "engine/local/local_store.h"
#include "engine/store.h"

namespace gridmount::tools {

// How long a store that another process owns is waited for. A mount that has just been unmounted
// still writes out what it holds and closes its store while `fusermount3 -u` has long returned; a
// script that goes on with gridfiles shall not fail for that.
inline constexpr std::chrono::milliseconds kOwnerPatience{2000};

// local::open() with that patience. What was open when its machine went down has to be put back to
// its last checkpoint, which writes: if `options` ask for reading only, that store is opened for
// writing where that is possible.
Result<std::unique_ptr<engine::Store>> open_store(const std::filesystem::path& folder,
                                                  const local::OpenOptions& options);

// Where the owner of the store in `folder` is asked.
std::filesystem::path socket_path(const std::filesystem::path& folder);
// Something else is in its place, so that no owner can be asked or listen there.
bool has_no_socket(const std::filesystem::path& folder);
// Nothing is there: the owner's file system takes no sockets, or somebody has removed it.
bool lacks_socket(const std::filesystem::path& folder);

}  // namespace gridmount::tools
