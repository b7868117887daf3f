#include "tools/gridstore/message.h"

#include <cstdio>

#include "command_line/progress.h"
#include "engine/base/log_text.h"

namespace gridmount::tools {

void print_message(std::string_view text) {
  hide_progress();
  fputs(("gridstore: " + log_text(text) + "\n").c_str(), stderr);
}

ExitStatus print_error(const Error& error) {
  print_message(error.message());
  return exit_status_of(error.code());
}

}  // namespace gridmount::tools
