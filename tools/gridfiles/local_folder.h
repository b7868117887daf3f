// The files of a local folder, for put --recursive and sync.
//
// Thread-safe: a function without state.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

// Calls `visit` with the path of each regular file in the folder, and then with those of the
// folders in it, and with its name: the path with `name` in place of the folder's path, or without
// it if `name` is empty. The files of a folder come in the order of their names.
//
// What is neither file nor folder is left out, and so is the folder of the store itself; the log
// names them, and `leave_out` is called with their names if it is not empty. Fails with kIoError if
// a folder cannot be read, with kInterrupted after a signal, and with the first error of `visit`.
Status for_each_local_file(
    const CommandContext& context, const std::filesystem::path& folder, const std::string& name,
    const std::function<Status(const std::filesystem::path& path, const std::string& name)>& visit,
    const std::function<void(const std::string& name)>& leave_out = {});

}  // namespace gridmount::tools
