// A subcommand of gridstore: how the program knows it and what runs it.
#pragma once

#include <functional>

#include "command_line/exit_status.h"

namespace CLI {
class App;
}

namespace gridmount::tools {

struct Subcommand {
  CLI::App* arguments;  // belongs to the program's
  // After the arguments have been read. What it prints on stdout is flushed by the caller, who
  // reports what could not be written.
  std::function<ExitStatus()> run;
};

}  // namespace gridmount::tools
