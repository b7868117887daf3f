#include "tools/gridstore/dump/dump_command.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/progress.h"
#include "command_line/store_argument.h"
#include "engine/base/counted.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "engine/wire/service.h"
#include "tools/gridstore/dump/archive_flag.h"
#include "tools/gridstore/dump/dump_content.h"
#include "tools/gridstore/dump/dump_folder.h"
#include "tools/gridstore/dump/dump_target.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

struct DumpOptions {
  StoreArgument store;
  std::string database;
  std::string collection;
  std::string folder;   // empty: kDefaultDumpFolder
  std::string archive;  // empty: none
  bool gzip = false;
  bool quiet = false;
};

struct DumpCounts {
  uint64_t documents = 0;
  uint64_t collections = 0;
  uint64_t failures = 0;
};

Status check(const DumpOptions& options) {
  if (options.archive.empty()) {
    if (options.folder == kStandardStream) {
      return fail(ErrorCode::kBadValue, "--out takes a folder; --archive writes to stdout");
    }
    return {};
  }
  if (!options.folder.empty()) {
    return fail(ErrorCode::kBadValue, "--out does not go together with --archive");
  }
  if (options.archive == kStandardStream && isatty(STDOUT_FILENO) == 1) {
    return fail(ErrorCode::kBadValue,
                "will not write an archive to a terminal; use --archive=FILE or redirect stdout");
  }
  return {};
}

Result<std::unique_ptr<DumpTarget>> open_target(const DumpOptions& options,
                                                const std::vector<DumpedCollection>& collections) {
  const DumpOrigin origin{wire::ServiceOptions().version,
                          std::string("gridstore ") + GRIDMOUNT_VERSION};
  if (options.archive.empty()) {
    return dump_to_folder(options.folder.empty() ? kDefaultDumpFolder : options.folder,
                          options.database, options.gzip, origin);
  }
  return dump_to_archive(options.archive == kStandardStream ? "" : options.archive, options.gzip,
                         origin, collections);
}

// Writes all documents and returns their number. Damaged documents are reported and skipped.
Result<uint64_t> dump_documents(engine::Store& store, engine::Snapshot& snapshot,
                                const engine::Namespace& ns, DumpTarget& target, DumpCounts& counts,
                                Progress& progress) {
  const std::unique_ptr<engine::Collection> collection =
      store.database(ns.database)->collection(ns.collection);
  engine::FindOptions find_options;
  find_options.one_at_a_time = true;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            collection->find(snapshot, {}, find_options));
  uint64_t written = 0;
  while (true) {
    const Result<std::optional<bson::View>> next = cursor->next();
    if (!next) {
      if (next.error().code() != ErrorCode::kDataCorruptionDetected) return fail(next.error());
      print_message(next.error().message());
      ++counts.failures;
      continue;
    }
    if (!*next) return written;
    GM_TRY(target.write(**next));
    ++written;
    progress.add(1);
  }
}

// Adds the number of documents, as far as it is known without reading them.
void expect_all(engine::Store& store, engine::Snapshot& snapshot,
                const std::vector<DumpedCollection>& collections, Progress& progress) {
  for (const DumpedCollection& collection : collections) {
    if (collection.metadata.is_view()) continue;
    const Result<engine::CollectionStats> stats = store.database(collection.ns.database)
                                                      ->collection(collection.ns.collection)
                                                      ->stats(snapshot);
    if (stats) progress.expect(static_cast<uint64_t>(std::max<int64_t>(stats->documents, 0)));
  }
}

Status dump(DumpOptions options, DumpCounts& counts) {
  GM_TRY(check(options));
  local::OpenOptions open_options;
  open_options.read_only = true;
  open_options.beside_owner = true;
  GM_ASSIGN(const StoreInUse opened, open_argument(options.store, open_options));
  GM_ASSIGN(options.database, selected_database(opened.database, options.database));
  if (options.database.empty() && !options.collection.empty()) {
    return fail(ErrorCode::kBadValue, "--collection needs --db");
  }
  engine::Store& store = *opened.store;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
  GM_ASSIGN(const std::vector<DumpedCollection> collections,
            dumped_collections(store, *snapshot, options.database, options.collection));
  GM_ASSIGN(const std::unique_ptr<DumpTarget> target, open_target(options, collections));
  Progress progress("documents", options.quiet);
  if (progress.is_shown()) expect_all(store, *snapshot, collections, progress);
  for (const DumpedCollection& collection : collections) {
    progress.set_subject(collection.ns.full());
    GM_TRY(target->begin(collection));
    uint64_t written = 0;
    if (!collection.metadata.is_view()) {
      GM_ASSIGN(written,
                dump_documents(store, *snapshot, collection.ns, *target, counts, progress));
    }
    GM_TRY(target->end());
    counts.documents += written;
    ++counts.collections;
    if (options.quiet) continue;
    print_message(collection.ns.full() + ": " +
                  (collection.metadata.is_view() ? "a view" : counted(written, "document")) +
                  " to " + target->place());
  }
  return target->finish();
}

ExitStatus run_dump(const DumpOptions& options) {
  // A write to a closed pipe must fail like any other write, and not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  DumpCounts counts;
  const Status done = dump(options, counts);
  if (!done) {
    print_message(done.error().message());
    print_message("the dump is not complete: it ended after " +
                  counted(counts.documents, "document") + " of " +
                  counted(counts.collections, "whole collection"));
    return exit_status_of(done.error().code());
  }
  if (!options.quiet || counts.failures > 0) {
    print_message("dumped " + counted(counts.documents, "document") + " of " +
                  counted(counts.collections, "collection") + "; " +
                  counted(counts.failures, "failure"));
  }
  return counts.failures > 0 ? ExitStatus::kStoreDamaged : ExitStatus::kOk;
}

}  // namespace

Subcommand add_dump(CLI::App& app) {
  const auto options = std::make_shared<DumpOptions>();
  CLI::App* const command = app.add_subcommand(
      "dump",
      "Writes databases as BSON files or as an archive, like mongodump; works while the "
      "store is in use");
  add_store_or_deployment(*command, options->store);
  command->add_option("--db", options->database, "only this database")
      ->check(command_line::database_name())
      ->type_name("NAME");
  command->add_option("--collection", options->collection, "only this collection of --db")
      ->type_name("NAME");
  command->add_option("--out", options->folder, "folder to write to; default: dump")
      ->type_name("FOLDER");
  add_archive_flag(*command, options->archive, "one archive instead, in the file or on stdout");
  command->add_flag("--gzip", options->gzip, "compress each file, or the archive");
  command->add_flag("--quiet", options->quiet, "print only failures");
  return {command, [options] { return run_dump(*options); }};
}

}  // namespace gridmount::tools
