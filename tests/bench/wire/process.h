// A program that runs beside the benchmark and ends with it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::bench {

class Process {
 public:
  // Starts the program and waits until it listens on `socket`. Throws std::runtime_error if the
  // program cannot be started, ends before, or does not listen after 30 seconds.
  Process(const std::vector<std::string>& command, const std::filesystem::path& socket);
  ~Process();  // calls stop()
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Sends SIGTERM and waits for the end.
  void stop();

 private:
  pid_t pid_ = 0;
};

}  // namespace gridmount::bench
