// Opening a store that its last owner may be about to close, and the socket that its owner answers
// on.
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
// before the mount's daemon has written what it holds and has closed its store. A script that then
// runs the next command must not fail for that.
inline constexpr std::chrono::milliseconds kOwnerPatience{3000};

// local::open(), tried again for kOwnerPatience while the store is locked. `is_in_use`, if given,
// is asked after each such failure; once it returns true the wait is over.
Result<std::unique_ptr<engine::Store>> open_when_free(
    const std::filesystem::path& folder, const local::OpenOptions& options,
    const std::function<bool()>& is_in_use = nullptr);

// The same for programs that run one command. A store that was open when its machine went down must
// be rolled back to its last checkpoint, which is a write. If `options` ask for a store that is
// only read, it is opened for writing then, where that is possible.
Result<std::unique_ptr<engine::Store>> open_store(const std::filesystem::path& folder,
                                                  const local::OpenOptions& options);

// The path of the socket on which the owner of the store in `folder` answers.
std::filesystem::path socket_path(const std::filesystem::path& folder);
// Whether something that is no socket stands at that path, so that no owner can answer there.
bool has_no_socket(const std::filesystem::path& folder);
// Whether nothing stands at that path: the owner's file system has no sockets, or somebody has
// removed the socket.
bool lacks_socket(const std::filesystem::path& folder);

}  // namespace gridmount::command_line
