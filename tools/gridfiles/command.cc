#include "tools/gridfiles/command.h"

#include <array>

#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr FurtherOptions kListing{.json = true, .filter = true, .sort = true};

constexpr auto kCommands = std::to_array<Command>({
    {"list",
     "list all files; 'filename' is an optional prefix which listed filenames must begin with", 0,
     1, false, false, run_list, kListing},
    {"search", "search all files; 'filename' is a regex which listed filenames must match", 1, 1,
     false, false, run_search, kListing},
    {"put",
     "add files with filenames specified in the supporting arguments",
     1,
     kAnyNumber,
     true,
     true,
     run_put,
     {.recursive = true, .jobs = true}},
    {"put_id", "add a file with filename 'filename' and a given '_id'", 2, 2, true, true,
     run_put_id},
    {"get",
     "get files with filenames specified in the supporting arguments",
     1,
     kAnyNumber,
     false,
     false,
     run_get,
     {.recursive = true, .revision = true, .jobs = true}},
    {"get_id", "get a file with the given '_id'", 1, 1, false, false, run_get_id},
    {"get_regex", "get files matching the supplied 'regex'", 1, 1, false, false, run_get_regex},
    {"delete", "delete all files with filename 'filename'", 1, 1, true, false, run_delete},
    {"delete_id", "delete a file with the given '_id'", 1, 1, true, false, run_delete_id},
    // mongofiles does not have the commands below.
    {"stat",
     "print the files documents of the newest files with these filenames",
     1,
     kAnyNumber,
     false,
     false,
     run_stat,
     {.json = true}},
    {"cat",
     "write the newest files with these filenames to stdout",
     1,
     kAnyNumber,
     false,
     false,
     run_cat,
     {.range = true, .revision = true}},
    {"revisions",
     "list all files with filename 'filename', the newest first",
     1,
     1,
     false,
     false,
     run_revisions,
     {.json = true}},
    {"restore",
     "copy the revision of --revision, so that the copy is the newest revision",
     1,
     1,
     true,
     false,
     run_restore,
     {.revision = true, .needs_revision = true}},
    {"cp", "copy the newest file with the first filename to the second one", 2, 2, true, false,
     run_cp},
    {"mv", "give all files with the first filename the second one", 2, 2, true, false, run_mv},
    {"sync_put",
     "put the files of a folder that differ; the second argument is a prefix for their names",
     1,
     2,
     true,
     true,
     run_sync_put,
     {.jobs = true, .sync = true}},
    {"sync_get",
     "get the files that differ into a folder; the second argument is a prefix of their names",
     1,
     2,
     false,
     false,
     run_sync_get,
     {.jobs = true, .sync = true}},
    {"du",
     "print the bytes below each folder; 'filename' is an optional prefix",
     0,
     1,
     false,
     false,
     run_du,
     {.json = true}},
    {"tree",
     "print the names as a tree of folders; 'filename' is an optional prefix",
     0,
     1,
     false,
     false,
     run_tree,
     {.json = true}},
    {"verify", "read all files, or those with a prefix, and compare chunks, length and md5", 0, 1,
     false, false, run_verify, kListing},
    {"annotate",
     "set the fields of --set in all files, or in those with a prefix",
     0,
     1,
     true,
     false,
     run_annotate,
     {.filter = true, .set = true}},
});

constexpr std::string_view kConnectionStringHint =
    " (If you are trying to specify a connection string, it must begin with mongodb:// or "
    "mongodb+srv://)";

const Command* command_of(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

Result<const Command*> find_command(std::span<const std::string> positionals) {
  if (positionals.empty()) return fail(ErrorCode::kFailedToParse, "no command specified");
  const Command* const found = command_of(positionals[0]);
  if (found == nullptr) {
    // The user may have written the store first, as for gridstore.
    const bool names_store = positionals.size() > 1 && command_of(positionals[1]) != nullptr;
    return fail(ErrorCode::kFailedToParse,
                in_quotes(positionals[0]) + " is not a valid command" +
                    (names_store ? "; a store is given with --store STORE"
                                 : std::string(kConnectionStringHint)));
  }
  size_t given = positionals.size() - 1;
  if (given > found->most_arguments) {
    return fail(ErrorCode::kFailedToParse,
                "too many non-URI positional arguments" + std::string(kConnectionStringHint));
  }
  if (given < found->least_arguments) {
    const char* missing = found->least_arguments > 1 ? " argument(s) missing" : " argument missing";
    return fail(ErrorCode::kFailedToParse, in_quotes(found->name) + missing);
  }
  return found;
}

Status check_options_of(const Command& command, const Options& options) {
  const FurtherOptions& takes = command.takes;
  const char* wrong = nullptr;
  if (options.json && !takes.json) wrong = "json";
  if (options.filter && !takes.filter) wrong = "filter";
  if (options.sort && !takes.sort) wrong = "sort";
  if (options.range && !takes.range) wrong = "range";
  if (options.set && !takes.set) wrong = "set";
  if (options.recursive && !takes.recursive) wrong = "recursive";
  if (options.revision && !takes.revision) wrong = "revision";
  if (options.jobs > 1 && !takes.jobs) wrong = "jobs";
  if (options.checksum && !takes.sync) wrong = "checksum";
  if (options.deletes && !takes.sync) wrong = "delete";
  if (options.dry_run && !takes.sync) wrong = "dry-run";
  if (takes.set && !options.set) {
    return fail(ErrorCode::kFailedToParse, in_quotes(command.name) + " needs --set");
  }
  if (takes.needs_revision && !options.revision) {
    return fail(ErrorCode::kFailedToParse,
                in_quotes(command.name) + " needs --revision; see `gridfiles revisions`");
  }
  if (wrong == nullptr) return {};
  return fail(ErrorCode::kFailedToParse, in_quotes(command.name) + " does not take --" + wrong);
}

}  // namespace gridmount::tools
