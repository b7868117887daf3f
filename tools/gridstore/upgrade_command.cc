#include "tools/gridstore/upgrade_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command_line/store_opening.h"
#include "engine/local/open_store.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

ExitStatus run_upgrade(const std::filesystem::path& folder) {
  int version = 0;
  // Opens the store first without the upgrade, to read its current format version.
  for (const bool upgrade : {false, true}) {
    const auto store = command_line::open_store(folder, {.upgrade = upgrade});
    if (!store) {
      print_message(store.error().message());
      return exit_status_of(store.error().code());
    }
    if (!upgrade) version = local::format_version_of(**store);
    if (version == local::kFormatVersion) {
      printf("%s has format version %d, which is the newest: nothing to do\n", folder.c_str(),
             version);
      return ExitStatus::kOk;
    }
  }
  printf("%s now has format version %d (before: %d)\n", folder.c_str(), local::kFormatVersion,
         version);
  return ExitStatus::kOk;
}

}  // namespace

Subcommand add_upgrade(CLI::App& app) {
  const auto store = std::make_shared<std::filesystem::path>();
  CLI::App* const command =
      app.add_subcommand("upgrade", "Converts the store to the newest format of this program");
  add_store_argument(*command, *store);
  return {command, [store] { return run_upgrade(*store); }};
}

}  // namespace gridmount::tools
