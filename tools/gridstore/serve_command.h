// gridstore serve: answers MongoDB's wire protocol on a store, without a mount, until it is told to
// end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/exit_status.h"

namespace gridmount::tools {

struct ServeOptions {
  std::filesystem::path store;
  bool create = false;
  std::vector<std::string> listen;  // HOST:PORT
  bool no_auth = false;
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  std::vector<std::string> arguments;  // of the program, which getCmdLineOpts tells
};

// Runs in the foreground until SIGTERM, SIGINT or SIGHUP; a second one ends at once. Logs to
// stderr. To be called before the process has started a thread.
ExitStatus run_serve(const ServeOptions& options);

}  // namespace gridmount::tools
