// Opens a store that its last owner may be about to close. Finds the socket on which an owner
// answers.
//
// Thread-safety: free functions without state.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "engine/base/error.h"
#include "engine/local/open_store.h"
#include "engine/store.h"

namespace gridmount::command_line {

// How long a program waits for a store that another process owns. `fusermount3 -u` returns long
// before the mount's daemon has written its data and has closed its store. A script that then runs
// the next command must not fail because the daemon still owns the store.
inline constexpr std::chrono::milliseconds kOwnerPatience{3000};

// Calls local::open(). If the store is locked, repeats this for up to kOwnerPatience. If
// `is_in_use` is set, calls it after each of these failures, and ends the wait if it returns true.
//
// A store whose owner was killed or whose machine went down must be recovered, which is a write. If
// `options` ask for a read-only store, such a store is first opened for writing and closed, as ext4
// replays its journal for a read-only mount. If the store cannot be opened for writing, the call
// fails with kStoreReadOnly.
Result<std::unique_ptr<engine::Store>> open_store(const std::filesystem::path& folder,
                                                  const local::OpenOptions& options,
                                                  const std::function<bool()>& is_in_use = nullptr);

// Returns the path of the socket on which the owner of the store in `folder` answers.
std::filesystem::path socket_path(const std::filesystem::path& folder);
// Returns true if there is something other than a socket at socket_path(), so that no owner can
// answer there.
bool is_socket_path_taken(const std::filesystem::path& folder);
// Returns true if there is nothing at socket_path(): the store's file system has no sockets, or
// somebody has removed the socket.
bool is_socket_missing(const std::filesystem::path& folder);

}  // namespace gridmount::command_line
