// gridstore serve: answers MongoDB's wire protocol on a store, without a mount, until it is told to
// end.
#pragma once

#include <filesystem>

#include "engine/exit_status.h"
#include "engine/wire/server/endpoint.h"

namespace gridmount::tools {

struct ServeOptions {
  std::filesystem::path store;
  bool create = false;
  wire::EndpointOptions endpoint;  // without the socket's folder
};

// Runs in the foreground until SIGTERM, SIGINT or SIGHUP; a second one ends at once. Logs to
// stderr. To be called before the process has started a thread.
ExitStatus run_serve(const ServeOptions& options);

}  // namespace gridmount::tools
