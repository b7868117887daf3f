#include "tools/gridstore/backup_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line/progress.h"
#include "command_line/store_argument.h"
#include "command_line/store_opening.h"
#include "engine/base/counted.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

struct BackupOptions {
  std::filesystem::path store;
  std::filesystem::path copy;
  bool unchecked = false;
};

// Returns the number of records that a check of the structure reads.
Result<uint64_t> records_of(engine::Store& store) {
  GM_ASSIGN(const auto snapshot, store.snapshot());
  GM_ASSIGN(const std::vector<std::string> databases, store.databases(*snapshot));
  uint64_t records = 0;
  for (const std::string& name : databases) {
    const auto database = store.database(name);
    GM_ASSIGN(const auto collections, database->collections(*snapshot));
    for (const engine::CollectionInfo& collection : collections) {
      const auto stats = database->collection(collection.name)->stats(*snapshot);
      if (stats) records += static_cast<uint64_t>(std::max<int64_t>(stats->documents, 0));
    }
  }
  return records;
}

// A backup also copies damage of the store. In this case, reports the damage and keeps the copy.
ExitStatus check_copy(const BackupOptions& options) {
  local::OpenOptions open_options;
  open_options.read_only = true;
  const auto copy = local::open(options.copy, open_options);
  if (!copy) return print_error(copy.error());
  Progress progress("records");
  if (progress.is_shown()) progress.expect(records_of(**copy).value_or(0));
  progress.set_subject("reading the copy");
  const Result<local::StructureReport> report =
      local::check_structure(**copy, [&] { progress.add(1); });
  hide_progress();
  if (!report) return print_error(report.error());
  for (const std::string& problem : report->problems) puts(("structure: " + problem).c_str());
  printf("%s holds %s, %s and %s of %s, all of which were read: %s\n", options.copy.c_str(),
         counted(report->collections, "collection").c_str(),
         counted(report->records, "record").c_str(),
         counted(report->index_entries, "index entry", "index entries").c_str(),
         options.store.c_str(), report->problems.empty() ? "no problems" : "damaged as above");
  return report->problems.empty() ? ExitStatus::kOk : ExitStatus::kStructureDamaged;
}

// Returns true if the copy would be inside the store's folder, where the store may remove files.
bool is_within_store(const BackupOptions& options) {
  std::error_code error;
  const std::filesystem::path store = std::filesystem::weakly_canonical(options.store, error);
  const std::filesystem::path copy = std::filesystem::weakly_canonical(options.copy, error);
  if (error) return false;
  const auto [end, ignored] = std::mismatch(store.begin(), store.end(), copy.begin(), copy.end());
  return end == store.end();
}

ExitStatus run_backup(const BackupOptions& options) {
  if (is_within_store(options)) {
    return print_error(Error(ErrorCode::kInvalidOptions,
                             "the copy " + options.copy.string() +
                                 " would be inside the store's folder; choose another location"));
  }
  local::OpenOptions open_options;
  open_options.read_only = true;
  open_options.beside_owner = true;
  {
    const auto store = command_line::open_store(options.store, open_options);
    if (!store) return print_error(store.error());
    const Status copied = local::copy_store(**store, options.copy);
    if (!copied) return print_error(copied.error());
  }
  if (!options.unchecked) return check_copy(options);
  printf("copied %s to %s\n", options.store.c_str(), options.copy.c_str());
  return ExitStatus::kOk;
}

}  // namespace

Subcommand add_backup(CLI::App& app) {
  const auto options = std::make_shared<BackupOptions>();
  CLI::App* const command = app.add_subcommand(
      "backup", "Copies the store as it is at one moment; works while the store is in use");
  add_store_argument(*command, options->store);
  command
      ->add_option("COPY", options->copy,
                   "the folder to create; must not exist yet or must be empty")
      ->type_name("")
      ->required()
      ->check(command_line::store_folder("a backup is a folder"));
  command->add_flag("--no-check", options->unchecked, "do not check the copy");
  return {command, [options] { return run_backup(*options); }};
}

}  // namespace gridmount::tools
