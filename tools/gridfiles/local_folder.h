// The files of a local folder, for `put --recursive`, sync_put and sync_get.
//
// Thread-safe: a function without state.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

// Calls `visit` for each regular file in the folder and in the folders below it. Visits the files
// of a folder first, in the order of their names, and then its subfolders. `visit` gets the path of
// the file and its name: the path with `name` in place of the folder's path. If `name` is empty,
// the name is the path relative to the folder.
//
// Leaves out the store's own folder, symbolic links, and everything else that is neither a regular
// file nor a folder. Logs the path of everything that is left out, and calls `leave_out` with its
// name unless `leave_out` is empty. Fails with kIoError if a folder cannot be read, with
// kInterrupted after a signal, and with the first error of `visit`.
Status for_each_local_file(
    const CommandContext& context, const std::filesystem::path& folder, const std::string& name,
    const std::function<Status(const std::filesystem::path& path, const std::string& name)>& visit,
    const std::function<void(const std::string& name)>& leave_out = {});

}  // namespace gridmount::tools
