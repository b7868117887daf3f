// Runs a built program and captures its output.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gridmount::tests {

struct Outcome {
  int status = -1;  // exit status; -N if signal N ended it
  std::string out;  // stdout
  std::string err;  // stderr
};

struct Invocation {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path folder;  // the folder to run in
  std::string input;             // for stdin
  // Called with the pid on another thread after the input was written, while the program runs.
  // stdin stays open until this function returns.
  std::function<void(pid_t)> meanwhile;
};

// Runs the program. If it cannot be started, the test fails and the status is 127.
Outcome run(const Invocation& invocation);

// Returns what gridfiles wrote to stderr without the times. Each line must begin with a local time
// and a tab, or be empty, like the line after an informative message. Otherwise the test fails.
std::string without_times(const std::string& err);

}  // namespace gridmount::tests
