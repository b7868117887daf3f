// A subcommand of gridstore: its arguments and the function that runs it.
//
// Not thread-safe.
#pragma once

#include <functional>
#include <string>

#include "command_line/exit_status.h"

namespace CLI {
class App;
}

namespace gridmount::tools {

struct Subcommand {
  CLI::App* arguments;  // owned by the program's CLI::App
  // Called after the arguments have been parsed. The caller must then call after_flush()
  // (guarded_run.h), which reports output that could not be written.
  std::function<ExitStatus()> run;
  // Whole lines that --help shows above the exit statuses. May be empty.
  std::string examples = {};
};

}  // namespace gridmount::tools
