// gridstore: maintains stores and MongoDB deployments. Each subcommand has its own file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "command_line/exit_status.h"
#include "command_line/secret_arguments.h"
#include "command_line/usage_error.h"
#include "engine/system/file.h"
#include "tools/gridstore/backup_command.h"
#include "tools/gridstore/check/check_command.h"
#include "tools/gridstore/compact_command.h"
#include "tools/gridstore/documents/aggregate_command.h"
#include "tools/gridstore/documents/export_command.h"
#include "tools/gridstore/documents/import_command.h"
#include "tools/gridstore/documents/query_command.h"
#include "tools/gridstore/dump/dump_command.h"
#include "tools/gridstore/dump/restore_command.h"
#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/serve_command.h"
#include "tools/gridstore/stats_command.h"
#include "tools/gridstore/top/top_command.h"
#include "tools/gridstore/upgrade_command.h"
#include "tools/library_log.h"

namespace gridmount::tools {

namespace {

constexpr const char* kExitStatuses =
    "Exit status:\n"
    "   0  the store is sound; the command has succeeded\n"
    "   1  wrong usage, or another failure\n"
    "   2  GridFS content is damaged: chunks, lengths, md5, directories, missing indexes\n"
    "   3  the structure is damaged: records, checksums, index entries, catalog\n"
    "  10  there is no store            11  not a store\n"
    "  12  format too new               13  locked by another process\n"
    "  14  read-only                    15  permission denied\n"
    "  16  too damaged to be opened     17  out of disk space\n"
    "  18  I/O error                    19  the file system is not suitable for a store\n"
    "  24  serve: not everything could be made durable at the end\n"
    "  25  the deployment does not answer\n";

ExitStatus run_parsed(const std::vector<Subcommand>& commands) {
  for (const Subcommand& command : commands) {
    if (command.arguments->parsed()) return command.run();
  }
  return ExitStatus::kFailure;
}

ExitStatus wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string help = "gridstore";
  for (const CLI::App* command : app.get_subcommands()) help += " " + command->get_name();
  const std::string message = command_line::usage_error(app, error) + " (see " + help + " --help)";
  print_message(message);
  return ExitStatus::kFailure;
}

int main_with(int argc, char** argv) {
  system::outlive_file_size_limit();
  report_warnings(print_message);
  CLI::App app("Maintains gridmount stores and MongoDB deployments with GridFS.", "gridstore");
  app.set_version_flag("--version", std::string("gridstore version: ") + GRIDMOUNT_VERSION);
  app.footer(kExitStatuses);
  app.require_subcommand(1);

  const std::vector<Subcommand> commands = {
      add_backup(app),
      add_check(app),
      add_compact(app),
      add_stats(app),
      add_query(app),
      add_aggregate(app),
      add_export(app),
      add_import(app),
      add_dump(app),
      add_restore(app),
      add_serve(app, {argv, argv + argc}),
      add_top(app),
      add_upgrade(app),
  };
  for (const Subcommand& command : commands) {
    const std::string& examples = command.examples;
    command.arguments->footer((examples.empty() ? "" : "Examples:\n" + examples + "\n") +
                              kExitStatuses);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version are not errors.
    if (error.get_exit_code() == 0) return app.exit(error);
    return static_cast<int>(wrong_usage(app, error));
  }
  command_line::hide_secrets({argv, static_cast<size_t>(argc)}, {});
  return static_cast<int>(after_flush(run_parsed(commands)));
}

}  // namespace

}  // namespace gridmount::tools

int main(int argc, char** argv) {
  return gridmount::tools::main_with(argc, argv);
}
