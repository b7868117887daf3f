// The costs of a mount's operations for a server. Reads the output of tests/bench/scale/measure.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gridmount::bench {

// Commands of one kind that an operation sends.
struct CommandCost {
  std::string command;     // "find", "commit"
  std::string collection;  // "files"; "-" for a commit
  std::string filter;      // "_id:equal"; "-" for an insert
  bool in_transaction = false;
  double count = 0;
  double server_us = 0;  // for one command
};

struct OperationCost {
  double server_us = 0;  // all work of the server, including work that no command counts
  double mount_us = 0;
  double bytes_in = 0;  // to the server
  double bytes_out = 0;
  std::vector<CommandCost> commands;

  double commits() const;
};

struct Costs {
  std::map<std::string, OperationCost> operations;
  std::map<std::string, double> steps_us;  // "commit", "prepare-and-commit", "coordinate"
  std::map<std::string, double> bytes;     // of one file: "files", "files-indexes", ...

  // Throw std::runtime_error if there is no such entry.
  const OperationCost& operation(const std::string& name) const;
  double step(const std::string& name) const;
};

// Throws std::runtime_error if the file cannot be read or a line is not as `measure` writes it. If
// the server did more for an operation than its commands and commits, the rest is added to the
// commands in equal shares.
Costs read_costs(const std::filesystem::path& path);

}  // namespace gridmount::bench
