// The commands of gridfiles: a table, and one file per family of commands.
//
// Thread-safety: a command runs on the main thread. With --jobs, it makes its transfers on other
// threads (transfers.h), which may use everything that a CommandContext refers to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command_line/progress.h"
#include "engine/base/error.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridfiles/log.h"
#include "tools/gridfiles/options.h"

namespace gridmount::tools {

// The objects that a command works with. They outlive the CommandContext.
struct CommandContext {
  const Options& options;
  const Log& log;
  const gridfs::Bucket& bucket;
  Progress& progress;                      // counts bytes
  std::span<const std::string> arguments;  // without the name of the command
};

// The further options of gridfiles that a command takes. mongofiles' own options are not listed
// here: as in mongofiles, a command ignores those of them that have no meaning for it.
struct FurtherOptions {
  bool json = false;
  bool filter = false;
  bool sort = false;
  bool set = false;  // the command takes --set and needs it
  bool range = false;
  bool recursive = false;
  bool revision = false;
  bool needs_revision = false;
  bool jobs = false;
  bool sync = false;  // --checksum, --delete and --dry-run
};

struct Command {
  std::string_view name;
  std::string_view description;
  size_t least_arguments = 0;
  size_t most_arguments = 0;
  bool writes = false;  // the command changes the store
  // The command adds files, so --create may make a store for it. With --create, the local file or
  // folder that the first argument or --local names must be readable.
  bool adds = false;
  // Runs the command. Fails with kInterrupted if a signal ended the command. The program prints the
  // message of an error after "Failed: ".
  Status (*run)(const CommandContext& context) = nullptr;
  FurtherOptions takes = {};
};

inline constexpr size_t kAnyNumber = SIZE_MAX;

std::span<const Command> commands();

// Returns the command that the first of `positionals` names. The others are its arguments. Fails
// with FailedToParse and mongofiles' text if there is no such command, or if the number of its
// arguments is wrong.
Result<const Command*> find_command(std::span<const std::string> positionals);
// Fails with FailedToParse if the options have one that the command does not take, or lack one that
// it needs.
Status check_options_of(const Command& command, const Options& options);

Status run_list(const CommandContext& context);
Status run_search(const CommandContext& context);
Status run_put(const CommandContext& context);
Status run_put_id(const CommandContext& context);
Status run_get(const CommandContext& context);
Status run_get_id(const CommandContext& context);
Status run_get_regex(const CommandContext& context);
Status run_delete(const CommandContext& context);
Status run_delete_id(const CommandContext& context);
Status run_stat(const CommandContext& context);
Status run_cat(const CommandContext& context);
Status run_cp(const CommandContext& context);
Status run_revisions(const CommandContext& context);
Status run_restore(const CommandContext& context);
Status run_mv(const CommandContext& context);
Status run_sync_put(const CommandContext& context);
Status run_sync_get(const CommandContext& context);
Status run_du(const CommandContext& context);
Status run_tree(const CommandContext& context);
Status run_annotate(const CommandContext& context);
Status run_verify(const CommandContext& context);

}  // namespace gridmount::tools
