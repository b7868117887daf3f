#include "tools/gridstore/dump/restore_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/progress.h"
#include "command_line/store_argument.h"
#include "engine/base/counted.h"
#include "engine/local/open_store.h"
#include "engine/mongo/mongo_store.h"
#include "engine/store.h"
#include "engine/system/memory.h"
#include "tools/gridstore/dump/archive_flag.h"
#include "tools/gridstore/dump/archive_reader.h"
#include "tools/gridstore/dump/document_reader.h"
#include "tools/gridstore/dump/dump_folder.h"
#include "tools/gridstore/dump/input_file.h"
#include "tools/gridstore/dump/restoration.h"
#include "tools/gridstore/dump/restore_item.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

struct RestoreOptions {
  StoreArgument store;
  std::string folder;   // empty: kDefaultDumpFolder
  std::string archive;  // empty: none
  bool create = false;
  bool gzip = false;
  bool dry_run = false;
  RestoreNames::Given names;
  RestoreRules rules;
};

// For a deployment, sets the database that the connection string names. Fails if --create is given,
// or if --db names another database.
Status take_database(RestoreOptions& options) {
  if (!options.store.is_deployment()) return {};
  if (options.create) {
    return fail(ErrorCode::kBadValue, "--create is for stores in folders");
  }
  GM_ASSIGN(const std::string named, mongo::database_of(options.store.text));
  GM_ASSIGN(options.names.database, selected_database(named, options.names.database));
  return {};
}

Status check(const RestoreOptions& options) {
  const RestoreNames::Given& names = options.names;
  if (names.database.empty() && !names.collection.empty()) {
    return fail(ErrorCode::kBadValue, "--collection needs --db");
  }
  if (!options.archive.empty() && !options.folder.empty()) {
    return fail(ErrorCode::kBadValue, "a folder does not go together with --archive");
  }
  if (options.folder == kStandardStream && names.collection.empty()) {
    return fail(ErrorCode::kBadValue,
                "documents from standard input need --db and --collection; an archive needs "
                "--archive");
  }
  return {};
}

// The dump to restore.
struct Source {
  std::vector<RestoreItem> items;
  std::unique_ptr<ArchiveReader> archive;  // null: files
  std::vector<std::string> problems;
  std::string name;  // for messages
};

void print_notices(const RestoreOptions& options, const std::vector<std::string>& notices) {
  if (options.rules.quiet) return;
  for (const std::string& notice : notices) print_message(notice);
}

Result<Source> open_archive(const RestoreOptions& options, const RestoreNames& names,
                            Progress& progress) {
  const bool from_stdin = options.archive == kStandardStream;
  GM_ASSIGN(std::unique_ptr<InputFile> file, from_stdin
                                                 ? InputFile::from_stdin(options.gzip)
                                                 : InputFile::open(options.archive, options.gzip));
  if (!from_stdin) progress.expect(known_file_size(options.archive));
  file->show(progress);
  Source source;
  source.name = file->name();
  GM_ASSIGN(source.archive, ArchiveReader::open(std::move(file)));
  for (const ArchivedCollection& collection : source.archive->collections()) {
    RestoreItem item;
    item.from = collection.ns;
    const std::optional<engine::Namespace> to = names.target_of(item.from);
    if (item.from.database.empty()) {
      print_notices(options, {"skipping " + in_quotes(item.from.collection) +
                              " of the archive: an oplog cannot be replayed"});
      continue;
    }
    if (!to) continue;
    item.to = *to;
    if (!collection.metadata.empty()) {
      Result<Metadata> metadata = Metadata::parse(collection.metadata);
      if (!metadata) {
        source.problems.push_back("the metadata of " + in_quotes(item.from.full()) + " in " +
                                  source.name + ": " + metadata.error().message() +
                                  "; it is not restored");
        continue;
      }
      item.metadata = std::move(metadata).value();
    }
    if (item.metadata.type.empty()) item.metadata.type = collection.type;
    source.items.push_back(std::move(item));
  }
  return source;
}

Result<Source> open_folder(const RestoreOptions& options, const RestoreNames& names,
                           Progress& progress) {
  Source source;
  if (options.folder == kStandardStream) {
    source.name = "standard input";
    const engine::Namespace ns{options.names.database, options.names.collection};
    if (const auto to = names.target_of(ns)) source.items.push_back({ns, *to, kStandardStream, {}});
    return source;
  }
  DumpFolderOptions folder;
  folder.path = options.folder.empty() ? kDefaultDumpFolder : options.folder;
  folder.database = options.names.database;
  folder.collection = options.names.collection;
  folder.gzip = options.gzip;
  GM_ASSIGN(DumpFolder found, read_dump_folder(folder, names));
  print_notices(options, found.notices);
  source.name = in_quotes(folder.path.string());
  source.items = std::move(found.items);
  source.problems = std::move(found.problems);
  for (const RestoreItem& item : source.items) {
    if (!item.documents.empty()) progress.expect(known_file_size(item.documents));
  }
  return source;
}

Result<Source> open_source(const RestoreOptions& options, Progress& progress) {
  // --db and --collection select collections. For a single file, they replace the names in its
  // path.
  GM_ASSIGN(const RestoreNames names, RestoreNames::parse(options.names));
  GM_ASSIGN(Source source, options.archive.empty() ? open_folder(options, names, progress)
                                                   : open_archive(options, names, progress));
  GM_TRY(check_targets(source.items));
  return source;
}

// Damage ends the reading of this file, but the documents before the damage are restored. Fails
// with errors that end the restore.
Status restore_file(const RestoreOptions& options, const RestoreItem& item,
                    Restoration& restoration, Progress& progress) {
  GM_TRY(restoration.begin(item.to, item.metadata));
  progress.set_subject(item.to.full());
  if (item.documents.empty()) return restoration.end(item.to);
  Result<std::unique_ptr<InputFile>> file = item.documents == kStandardStream
                                                ? InputFile::from_stdin(options.gzip)
                                                : InputFile::open(item.documents, options.gzip);
  if (!file) return restoration.break_off(item.to, file.error());
  (*file)->show(progress);
  DocumentReader documents(**file);
  while (true) {
    const Result<DocumentReader::Found> found = documents.next();
    if (!found) return restoration.break_off(item.to, found.error());
    if (*found == DocumentReader::Found::kEnd) return restoration.end(item.to);
    GM_TRY(restoration.add(item.to, documents.document()));
  }
}

Status restore_archive(const Source& source, Restoration& restoration, Progress& progress) {
  using Kind = ArchiveReader::Event::Kind;
  std::map<engine::Namespace, const RestoreItem*> items;
  for (const RestoreItem& item : source.items) {
    engine::Namespace from = item.from;
    if (item.metadata.type == "timeseries") from.collection.insert(0, kTimeSeriesPrefix);
    items.emplace(from, &item);
  }
  while (true) {
    const auto event = source.archive->next();
    if (!event) return restoration.failed(event.error());
    if (!*event) return {};
    const auto found = items.find((*event)->ns);
    if (found == items.end()) continue;
    const RestoreItem& item = *found->second;
    switch ((*event)->kind) {
      case Kind::kBegins:
        progress.set_subject(item.to.full());
        GM_TRY(restoration.begin(item.to, item.metadata));
        break;
      case Kind::kDocument:
        GM_TRY(restoration.add(item.to, (*event)->document));
        break;
      case Kind::kEnds:
        GM_TRY(restoration.end(item.to));
        break;
    }
  }
}

Status restore_all(const RestoreOptions& options, const Source& source, Restoration& restoration,
                   Progress& progress) {
  for (const std::string& problem : source.problems) {
    GM_TRY(restoration.failed(Error(ErrorCode::kFailedToParse, problem)));
  }
  if (source.archive) {
    GM_TRY(restore_archive(source, restoration, progress));
  } else {
    for (const RestoreItem& item : source.items) {
      GM_TRY(restore_file(options, item, restoration, progress));
    }
  }
  return restoration.finish();
}

Error with_advice(const RestoreOptions& options, const Error& error) {
  return options.create ? error : command_line::with_create_advice(error, "gridstore restore");
}

// Checks that the target store can be opened, and reports what would be restored.
Status run_dry(const RestoreOptions& options, const Source& source) {
  local::OpenOptions open_options;
  open_options.read_only = true;
  open_options.beside_owner = true;
  const auto store = open_argument(options.store, open_options);
  const bool would_be_made =
      !store && options.create && store.error().code() == ErrorCode::kStoreNotFound;
  if (!store && !would_be_made) return fail(with_advice(options, store.error()));
  for (const std::string& problem : source.problems) print_message(problem);
  for (const RestoreItem& item : source.items) {
    print_message(
        "would restore " + item.from.full() +
        (item.to == item.from ? std::string() : " to " + item.to.full()) +
        (item.documents.empty() ? std::string() : " from " + in_quotes(item.documents.string())));
  }
  print_message("dry run: " + counted(source.items.size(), "collection") + " of " + source.name +
                ", nothing restored");
  return {};
}

ExitStatus run_restore(RestoreOptions options) {
  if (const Status taken = take_database(options); !taken) return print_error(taken.error());
  if (const Status checked = check(options); !checked) return print_error(checked.error());
  Progress progress("", options.rules.quiet || options.dry_run);
  const Result<Source> source = open_source(options, progress);
  if (!source) return print_error(source.error());
  if (source->items.empty() && source->problems.empty()) {
    return print_error(
        Error(ErrorCode::kNonExistentPath, "there is nothing to restore in " + source->name));
  }
  if (options.dry_run) {
    const Status dry = run_dry(options, *source);
    if (!dry) return print_error(dry.error());
    return source->problems.empty() ? ExitStatus::kOk : ExitStatus::kFailure;
  }
  system::tune_allocator();
  local::OpenOptions open_options;
  open_options.create = options.create;
  const auto opened = open_argument(options.store, open_options);
  if (!opened) return print_error(with_advice(options, opened.error()));

  Restoration restoration(*opened->store, options.rules);
  const Status done = restore_all(options, *source, restoration, progress);
  if (!done) print_message(done.error().message());
  const RestoreCounts& counts = restoration.counts();
  if (!options.rules.quiet || counts.failures > 0 || !done) {
    print_message("restored " + counted(counts.documents, "document") + " of " +
                  counted(counts.collections, "collection") + ", " +
                  counted(counts.indexes, "index") +
                  (counts.users > 0 ? ", " + counted(counts.users, "user") : std::string()) + "; " +
                  counted(counts.failures, "failure"));
  }
  if (!done) {
    print_message("the restore is not complete");
    return exit_status_of(done.error().code());
  }
  return counts.failures > 0 ? ExitStatus::kFailure : ExitStatus::kOk;
}

CLI::Option* add_patterns(CLI::App& command, const std::string& name,
                          std::vector<std::string>& patterns, const std::string& description) {
  // One pattern for each option, so that a following FOLDER is not taken as a pattern.
  return command.add_option(name, patterns, description)
      ->type_name("PATTERN")
      ->allow_extra_args(false);
}

}  // namespace

Subcommand add_restore(CLI::App& app) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* const command = app.add_subcommand("restore",
                                               "Restores what dump or mongodump wrote; into a "
                                               "store in a folder only while it is not in use");
  add_store_or_deployment(*command, options->store);
  command
      ->add_option("FOLDER", options->folder,
                   "the dump, by default dump; with --db also that database's own folder, a "
                   "file *.bson, or - for one collection's documents on stdin")
      ->type_name("");
  command->add_flag("--create", options->create, "create the store if it does not exist");
  command->add_option("--db", options->names.database, "only this database")
      ->check(command_line::database_name())
      ->type_name("NAME");
  command->add_option("--collection", options->names.collection, "only this collection of --db")
      ->type_name("NAME");
  add_patterns(*command, "--nsInclude", options->names.include,
               "only namespaces that match, e.g. 'db.prefix*'; may be given several times");
  add_patterns(*command, "--nsExclude", options->names.exclude, "exclude namespaces that match");
  add_patterns(*command, "--nsFrom", options->names.from,
               "rename namespaces that match to the corresponding --nsTo");
  add_patterns(*command, "--nsTo", options->names.to, "see --nsFrom");
  command->add_flag("--drop", options->rules.drop, "first drop collections that are restored");
  add_archive_flag(*command, options->archive, "from an archive, the file or stdin");
  command->add_flag("--gzip", options->gzip, "the files, or the archive, are compressed");
  command->add_flag("--bypassDocumentValidation", options->rules.bypass_validation,
                    "restore documents that validators refuse");
  command->add_flag("--convertLegacyIndexes", options->rules.convert_legacy_indexes,
                    "index keys that servers before 3.4 took for 1 (true, null, 0, \"\") become 1");
  command->add_flag("--stopOnError", options->rules.stop_on_error, "end at the first failure");
  command->add_flag("--dryRun", options->dry_run, "only show what would be restored");
  command->add_flag("--quiet", options->rules.quiet, "print only failures");
  return {command, [options] { return run_restore(*options); }};
}

}  // namespace gridmount::tools
