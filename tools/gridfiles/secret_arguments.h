// Hides the secrets of the command line, which every user of the machine can read in the list of
// processes.
//
// Not thread-safe: must be called before the first thread starts.
#pragma once

#include <span>

#include "tools/gridfiles/connection_options.h"

namespace gridmount::tools {

// Writes 'x' over each secret of `options` in `arguments`, which are the process's own: the value
// of an option, attached to it or not, or the password in a connection string.
void hide_secrets(std::span<char*> arguments, const ConnectionOptions& options);

}  // namespace gridmount::tools
