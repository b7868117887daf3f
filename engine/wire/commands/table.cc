// The table of all commands.

#include <algorithm>
#include <unordered_map>

#include "engine/wire/command.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

struct Table {
  std::vector<Command> commands;
  std::unordered_map<std::string_view, const Command*> by_name;
};

const Table& table() {
  static const Table made = [] {
    Table table;
    for (Commands (*const family)() : {handshake_commands,      find_commands,
                                       cursor_commands,         count_commands,
                                       aggregate_commands,      explain_commands,
                                       insert_commands,         update_commands,
                                       delete_commands,         find_and_modify_commands,
                                       collection_commands,     index_commands,
                                       statistics_commands,     session_commands,
                                       authentication_commands, user_commands,
                                       operation_commands,      server_status_commands,
                                       parameter_commands,      probe_commands,
                                       merge_users_commands,    file_md5_commands,
                                       user_info_commands,      rename_commands,
                                       ping_commands,           list_commands_commands,
                                       distinct_commands,       validate_commands,
                                       compact_commands,        fsync_commands}) {
      for (Command& command : family()) table.commands.push_back(std::move(command));
    }
    std::sort(table.commands.begin(), table.commands.end(),
              [](const Command& a, const Command& b) { return a.name < b.name; });
    for (const Command& command : table.commands) {
      table.by_name.emplace(command.name, &command);
      for (const std::string_view name : command.other_names) {
        table.by_name.emplace(name, &command);
      }
    }
    return table;
  }();
  return made;
}

}  // namespace

Command cluster_command(std::string_view name, Status (*run)(Call&, bson::Builder&),
                        std::string_view action, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCluster;
  command.actions = {action};
  command.admin_only = true;
  command.about = about;
  return command;
}

Command collection_command(std::string_view name, Status (*run)(Call&, bson::Builder&),
                           std::string_view action, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCollection;
  command.actions = {action};
  command.about = about;
  return command;
}

std::span<const Command> all_commands() {
  return table().commands;
}

const Command* find_command(std::string_view name) {
  const auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : found->second;
}

std::vector<Privilege> privileges_of(const Command& command, const Request& request) {
  if (command.privileges != nullptr) return command.privileges(request);
  std::vector<Privilege> privileges;
  for (const std::string_view action : command.actions) {
    switch (command.scope) {
      case Command::Scope::kNothing:
        break;
      case Command::Scope::kCollection: {
        const bson::ValueView name = (*request.body.begin()).value;
        privileges.push_back(
            {Privilege::Resource::kCollection, action, std::string(request.database),
             name.type() == bson::Type::kString ? std::string(name.as_string()) : std::string()});
        break;
      }
      case Command::Scope::kDatabase:
        privileges.push_back(
            {Privilege::Resource::kDatabase, action, std::string(request.database)});
        break;
      case Command::Scope::kCluster:
        privileges.push_back({Privilege::Resource::kCluster, action});
        break;
    }
  }
  return privileges;
}

}  // namespace gridmount::wire
