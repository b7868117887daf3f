// gridfiles: the commands of mongofiles, and further commands, for gridmount's stores and MongoDB
// deployments. The commands of mongofiles print the same texts and have the same exit statuses as
// in mongofiles, so that scripts for mongofiles work unchanged.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "command_line/exit_status.h"
#include "command_line/progress.h"
#include "command_line/secret_arguments.h"
#include "command_line/store_argument.h"
#include "engine/base/log_text.h"
#include "engine/system/file.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/interruption.h"
#include "tools/gridfiles/local_file.h"
#include "tools/gridfiles/log.h"
#include "tools/gridfiles/opened_store.h"
#include "tools/gridfiles/options.h"
#include "tools/library_log.h"

namespace gridmount::tools {

namespace {

constexpr int kOk = static_cast<int>(ExitStatus::kOk);
constexpr int kFailure = static_cast<int>(ExitStatus::kFailure);
constexpr const char* kTryHelp = "try 'gridfiles --help' for more information";

int wrong_usage(const Log& log, const std::string& message) {
  log.line(Log::kAlways, message);
  log.line(Log::kAlways, kTryHelp);
  return kFailure;
}

// A new store gets its bucket at once, like a store that gridmount has created.
Status prepare_bucket(const gridfs::Bucket& bucket) {
  GM_ASSIGN(auto transaction, bucket.store().begin());
  GM_TRY(bucket.ensure_indexes(*transaction));
  return transaction->commit();
}

// Fails if the first file to put cannot be read.
Status check_first_file(const Options& options) {
  const std::string& name = options.local.empty() ? options.positionals[1] : options.local;
  // A readable file is not opened here: if it is a pipe, put could not read it a second time.
  if (name == "-" || ::access(name.c_str(), R_OK) == 0) return {};
  GM_TRY(LocalInput::open(name));
  return {};
}

// Returns true if the command writes content to a standard output that is not a regular file. This
// may be a terminal, or a pipe to a program that uses the terminal too, and a progress line would
// disturb the output there.
bool shows_content(const Options& options, const Command& command) {
  if (command.run != run_cat && (command.writes || options.local != "-")) return false;
  struct stat status {};
  return ::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode);
}

Status run(const Options& options, const Log& log, const Command& command) {
  engine::Namespace chunks{options.database, options.prefix + ".chunks"};
  GM_TRY(engine::check_namespace(chunks));
  if (command.writes) GM_TRY(options.write_concern.check_for_one_member());

  // A mistyped file name must not create a store.
  if (command.adds && options.create) GM_TRY(check_first_file(options));

  Result<OpenedStore> opening = open_store_of(options, command.writes);
  if (!opening) {
    const bool creates = command.adds && !options.create;
    return fail(creates ? command_line::with_create_advice(opening.error(), "gridfiles")
                        : opening.error());
  }
  const OpenedStore opened = std::move(opening).value();
  engine::Store* const store = opened.store.get();
  log.line(Log::kAlways, "connected to: " + opened.address);
  log.line(Log::kInfo, "handling gridfiles '" + std::string(command.name) + "' command...");
  gridfs::BucketOptions bucket_options;
  bucket_options.name = options.prefix;
  gridfs::Bucket bucket(*store, store->database(options.database), bucket_options);
  if (options.create) GM_TRY(prepare_bucket(bucket));
  // Completes the removals that a killed program has left unfinished.
  if (command.writes && opened.is_alone) GM_TRY(bucket.reclaim_all());
  Progress progress("", options.quiet || shows_content(options, command));
  CommandContext context{options, log, bucket, progress, std::span(options.positionals).subspan(1)};
  Status done = command.run(context);
  // Changes that were made before an error stay, so they are made durable too.
  if (!store->read_only()) {
    Status durable = store->make_durable();
    if (done && !durable) return durable;
  }
  return done;
}

int main_with(std::span<char*> given) {
  system::outlive_file_size_limit();
  Log log;
  const std::vector<std::string> arguments(given.begin(), given.end());
  auto options = parse_options(arguments);
  if (!options) {
    if (options.error().message() == kInvalidVerbosity) {
      log.line(Log::kAlways, options.error().message());
      return kInvalidVerbosityStatus;
    }
    return wrong_usage(log, "error parsing command line options: " + options.error().message());
  }
  command_line::hide_secrets(given, options->connection.secrets());
  log.set_verbosity(options->quiet ? -1 : options->verbosity);
  log.line(Log::kInfo, "using write concern: " + options->write_concern.text());
  if (options->help) {
    fputs(help_text().c_str(), stdout);
    return kOk;
  }
  if (options->version) {
    fputs((std::string("gridfiles version: ") + GRIDMOUNT_VERSION + "\n").c_str(), stdout);
    return kOk;
  }

  auto command = find_command(options->positionals);
  if (!command) return wrong_usage(log, command.error().message());
  if (Status fits = check_options_of(**command, *options); !fits) {
    return wrong_usage(log, fits.error().message());
  }
  if (options->prefix.empty()) return wrong_usage(log, "--prefix cannot be blank");
  if (options->connection.shows_password()) {
    log.line(
        Log::kAlways,
        "WARNING: On some systems, a password provided directly in a connection string or using "
        "--password may be visible to system status programs such as `ps` that may be invoked "
        "by other users. Consider omitting the password to provide it via stdin, or using the "
        "--config option to specify a configuration file with the password.");
  }

  report_warnings([&](const std::string& line) { log.line(Log::kAlways, line); });
  Interruption::install();
  if (Status done = run(*options, log, **command); !done) {
    bool interrupted = done.error().code() == ErrorCode::kInterrupted;
    log.line(Log::kAlways,
             interrupted ? done.error().message() : "Failed: " + log_text(done.error().message()));
    if (interrupted && (*command)->takes.sync) {
      log.line(Log::kAlways, "to go on, run the same command again: it transfers what is missing");
    }
    return kFailure;
  }
  return kOk;
}

}  // namespace

}  // namespace gridmount::tools

int main(int argc, char** argv) {
  return gridmount::tools::main_with(
      std::span(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
}
