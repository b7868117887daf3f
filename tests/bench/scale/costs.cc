#include "tests/bench/scale/costs.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gridmount::bench {
namespace {

// Replaces the time of all commands of one kind, as the file has it, by the time of one command.
// Divides the rest of the operation's time equally among the commands.
void spread_rest(OperationCost& operation, double commit_us) {
  double known = operation.commits() * commit_us;
  double commands = 0;
  for (CommandCost& each : operation.commands) {
    if (each.command == "commit") {
      each.server_us = commit_us;
      continue;
    }
    known += each.server_us;
    commands += each.count;
    each.server_us /= each.count;
  }
  if (commands == 0) return;
  const double rest = std::max(operation.server_us - known, 0.0) / commands;
  for (CommandCost& each : operation.commands) {
    if (each.command != "commit") each.server_us += rest;
  }
}

}  // namespace

double OperationCost::commits() const {
  for (const CommandCost& each : commands) {
    if (each.command == "commit") return each.count;
  }
  return 0;
}

const OperationCost& Costs::operation(const std::string& name) const {
  const auto found = operations.find(name);
  if (found == operations.end()) throw std::runtime_error("no costs of the operation " + name);
  return found->second;
}

double Costs::step(const std::string& name) const {
  const auto found = steps_us.find(name);
  if (found == steps_us.end()) throw std::runtime_error("no costs of the step " + name);
  return found->second;
}

Costs read_costs(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  Costs costs;
  OperationCost* operation = nullptr;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.starts_with("#")) continue;
    std::istringstream fields(line);
    std::string first;
    std::string name;
    double clock_us = 0;
    fields >> first;
    if (first == "operation") {
      fields >> name;
      operation = &costs.operations[name];
      fields >> operation->server_us >> operation->mount_us >> clock_us >> operation->bytes_in >>
          operation->bytes_out;
    } else if (first == "step") {
      fields >> name >> costs.steps_us[name] >> clock_us;
    } else if (first == "bytes") {
      fields >> name >> costs.bytes[name];
    } else if (operation != nullptr) {
      CommandCost command;
      std::string where;
      command.command = first;
      fields >> command.collection >> command.filter >> where >> command.count >> command.server_us;
      command.in_transaction = where == "inside";
      // A rare command may have the count 0.00, because counts are rounded.
      if (command.count > 0) operation->commands.push_back(command);
    } else {
      fields.setstate(std::ios::failbit);
    }
    if (!fields) {
      throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": not a cost");
    }
  }
  for (auto& [name, each] : costs.operations) spread_rest(each, costs.step("commit"));
  return costs;
}

}  // namespace gridmount::bench
