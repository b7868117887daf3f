#include "tools/gridstore/check/check_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/progress.h"
#include "command_line/store_argument.h"
#include "command_line/store_opening.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "gridfs/bucket/md5.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/check/content_check.h"
#include "tools/gridstore/check/deployment_check.h"
#include "tools/gridstore/check/findings.h"
#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/repair/keep_folder.h"
#include "tools/gridstore/repair/store_repair.h"
#include "tools/gridstore/store_argument.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// Returns the number of records that a check reads: all records once, and the records of checked
// buckets twice. The caller ignores errors, because the check finds them again.
Result<uint64_t> records_to_read(const CheckOptions& options, engine::Store& store) {
  GM_ASSIGN(auto snapshot, store.snapshot());
  GM_ASSIGN(const std::vector<std::string> checked, databases_of(options, store, *snapshot));
  GM_ASSIGN(const std::vector<std::string> databases, store.databases(*snapshot));
  uint64_t records = 0;
  for (const std::string& name : databases) {
    auto database = store.database(name);
    const bool is_checked = std::find(checked.begin(), checked.end(), name) != checked.end();
    GM_ASSIGN(auto buckets, buckets_of(*database, *snapshot));
    GM_ASSIGN(auto collections, database->collections(*snapshot));
    for (const engine::CollectionInfo& collection : collections) {
      const auto stats = database->collection(collection.name)->stats(*snapshot);
      if (!stats) continue;
      const std::string bucket = collection.name.substr(0, collection.name.rfind('.'));
      const bool is_twice = is_checked && buckets.contains(bucket);
      records += static_cast<uint64_t>(std::max<int64_t>(stats->documents, 0)) * (is_twice ? 2 : 1);
    }
  }
  return records;
}

ExitStatus check_store(const CheckOptions& options, engine::Store& store, bool in_use,
                       Findings& findings, Whereabouts& whereabouts) {
  if (!gridfs::Md5::available()) {
    print_message("md5 digests are not checked, because this system refuses MD5");
  }
  Progress progress("records");
  if (progress.is_shown()) progress.expect(records_to_read(options, store).value_or(0));
  whereabouts.at("the structure");
  auto structure = local::check_structure(store, [&] { progress.add(1); });
  hide_progress();
  if (!structure && !is_damage(structure.error())) {
    print_message(structure.error().message());
    return exit_status_of(structure.error().code());
  }
  if (structure) {
    for (const std::string& problem : structure->problems) findings.structure_problem(problem);
  } else {
    findings.structure_problem(structure.error().message());
  }
  findings.show(&progress);
  Status content = check_content(options, store, in_use, findings, whereabouts);
  findings.show(nullptr);
  if (!content) {
    if (!is_damage(content.error())) {
      print_message(content.error().message());
      return exit_status_of(content.error().code());
    }
    findings.structure_problem(content.error().message() +
                               "; the rest of the content was not checked");
  }
  hide_progress();
  const local::StructureReport unread;
  findings.print_summary(structure ? &*structure : &unread);
  return findings.exit_status();
}

ExitStatus run_check(const CheckOptions& options, Whereabouts& whereabouts) {
  local::OpenOptions open_options;
  open_options.read_only = true;
  open_options.beside_owner = true;
  auto store = command_line::open_store(options.store.folder(), open_options);
  if (!store) {
    print_message(command_line::with_folder_advice(store.error()).message());
    return exit_status_of(store.error().code());
  }
  const std::optional<local::Owner> owner = local::owner_beside(**store);
  if (owner) {
    print_message("process " + std::to_string(owner->pid) + " on " + owner->host +
                  " is using the store; the check sees its current state");
  }
  Findings findings(format_of(options));
  return check_store(options, **store, owner.has_value(), findings, whereabouts);
}

// Returns <store>.removed-<UTC time>, beside the store.
std::filesystem::path default_keep_folder(const std::filesystem::path& store) {
  std::filesystem::path folder = std::filesystem::absolute(store).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  return folder += removed_suffix();
}

// Repairs a damaged list of free pages before the store is opened for writing, because writing with
// such a list may destroy data. Returns false if the list could not be repaired. The caller must
// then not write to the store.
Result<bool> repair_free_list(const CheckOptions& options, KeepFolder& keep, Findings& findings,
                              Whereabouts& whereabouts) {
  local::OpenOptions read_only;
  read_only.read_only = true;
  auto store = command_line::open_store(options.store.folder(), read_only);
  // Opening the store for writing will report the error or recover the store.
  if (!store) return true;
  GM_ASSIGN(const std::vector<std::string> problems, local::free_list_problems(**store));
  store->reset();
  if (problems.empty()) return true;
  Status made_anew;
  const Result<local::Compaction> compacted = local::compact_store(options.store.folder());
  if (!compacted && is_damage(compacted.error())) {
    made_anew = make_store_anew(options.store.folder(), keep, findings, whereabouts);
  } else if (!compacted) {
    made_anew = fail(compacted.error());
  }
  if (!made_anew) {
    for (const std::string& problem : problems) findings.unrepairable(problem);
    findings.unrepairable("the list of free pages cannot be rebuilt: " +
                          made_anew.error().message());
    return false;
  }
  for (const std::string& problem : problems) {
    findings.repaired(problem + ": rebuilt the list of free pages");
  }
  return true;
}

// Opens the store. If damage prevents this, rebuilds the store first if possible.
Status open_for_repair(StoreForRepair& repaired, KeepFolder& keep, Findings& findings,
                       Whereabouts& whereabouts) {
  auto store = command_line::open_store(repaired.folder, repaired.options);
  if (!store) {
    if (!is_damage(store.error())) return fail(store.error());
    if (Status made = make_store_anew(repaired.folder, keep, findings, whereabouts); !made) {
      print_message(store.error().message());
      return made;
    }
    store = command_line::open_store(repaired.folder, repaired.options);
    if (!store) return fail(store.error());
  }
  repaired.store = std::move(store).value();
  return {};
}

// Returns the result of databases_of(), or no databases if damage prevents it.
Result<std::vector<std::string>> databases_to_repair(const CheckOptions& options,
                                                     engine::Store& store) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
  auto found = databases_of(options, store, *snapshot);
  if (!found && is_damage(found.error())) return std::vector<std::string>();
  return found;
}

Status repair_all(const CheckOptions& options, StoreForRepair& repaired, KeepFolder& keep,
                  Findings& findings, Whereabouts& whereabouts) {
  // Fails for an unknown database name before the repair changes the structure.
  GM_TRY(databases_to_repair(options, *repaired.store));
  GM_ASSIGN(const bool is_sound, repair_structure(repaired, keep, findings, whereabouts));
  RepairContext context{*repaired.store, keep, findings,
                        std::chrono::seconds(options.grace_seconds)};
  if (is_sound) {
    GM_ASSIGN(const std::vector<std::string> databases,
              databases_to_repair(options, *repaired.store));
    GM_TRY(repair_content(context, databases, whereabouts));
  }
  return finish_repair(context);
}

ExitStatus run_repair(const CheckOptions& options, Whereabouts& whereabouts) {
  const auto failed = [](const Error& error) {
    print_message(command_line::with_folder_advice(error).message());
    return exit_status_of(error.code());
  };
  Findings findings(format_of(options));
  KeepFolder keep(options.keep.empty() ? default_keep_folder(options.store.folder())
                                       : options.keep);
  if (Status free = keep.check_free(); !free) return failed(free.error());
  whereabouts.at("the list of free pages");
  const Result<bool> may_be_written = repair_free_list(options, keep, findings, whereabouts);
  if (!may_be_written) return failed(may_be_written.error());
  if (!*may_be_written) return findings.exit_status();
  StoreForRepair repaired{options.store.folder(), {}, nullptr};
  // A repair must not remove expired documents.
  repaired.options.expiry_interval = std::chrono::hours(24 * 365);
  whereabouts.at("what the store is opened with");
  if (Status opened = open_for_repair(repaired, keep, findings, whereabouts); !opened) {
    return failed(opened.error());
  }
  if (Status done = repair_all(options, repaired, keep, findings, whereabouts); !done) {
    return failed(done.error());
  }
  return check_store(options, *repaired.store, false, findings, whereabouts);
}

ExitStatus run(const CheckOptions& options) {
  if (options.store.is_deployment()) return check_deployment(options);
  if (const Status fits = check_fits(options.store); !fits) {
    print_message(fits.error().message());
    return exit_status_of(fits.error().code());
  }
  return run_guarded(
      [&](Whereabouts& whereabouts) {
        return options.repair ? run_repair(options, whereabouts) : run_check(options, whereabouts);
      },
      [&](const std::string& signal, const std::string& place) {
        Findings findings(format_of(options));
        const std::string text =
            "a page of data.mdb is damaged so that reading " + place + " ended with a signal (" +
            signal + "); restore the store from a backup, or export the other collections";
        if (options.repair) {
          findings.unrepairable(text);
        } else {
          findings.structure_problem(text);
        }
        return findings.exit_status();
      });
}

}  // namespace

Subcommand add_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* const command =
      app.add_subcommand("check",
                         "Reads everything and reports damage, one line per problem; works while "
                         "the store is in use");
  add_store_or_deployment(*command, options->store);
  command
      ->add_option("--db", options->database,
                   "check the GridFS buckets of this database only (the structure is "
                   "checked whole)")
      ->check(command_line::database_name())
      ->type_name("NAME");
  command->add_flag("--json", options->json, "one JSON document per line");
  CLI::Option* const repair = command->add_flag(
      "--repair", options->repair,
      "repair the damage and check again; a store in a folder must not be in use");
  command
      ->add_option("--keep", options->keep,
                   "folder for the data that a repair removes; must not exist yet or must be empty "
                   "(default: STORE.removed-TIME beside the store, or gridstore.removed-TIME)")
      ->type_name("FOLDER")
      ->needs(repair);
  command
      ->add_option(
          "--grace", options->grace_seconds,
          "keep chunks without a file that are younger than this many seconds (default 3600)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
      ->needs(repair);
  return {command, [options] { return run(*options); }};
}

}  // namespace gridmount::tools
