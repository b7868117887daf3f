// gridstore: looks after a store. Each subcommand is a file of its own.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "engine/exit_status.h"
#include "tools/gridstore/check_command.h"
#include "tools/gridstore/serve_command.h"
#include "tools/gridstore/stats_command.h"

namespace gridmount::tools {

namespace {

constexpr const char* kExitStatuses =
    "Exit status:\n"
    "   0  the store is sound; the server has ended as it was told\n"
    "   1  wrong usage, or another failure\n"
    "   2  GridFS content is damaged: chunks, lengths, md5, folders, missing indexes\n"
    "   3  the structure is damaged: records, checksums, index entries, catalog\n"
    "  10  there is no store            11  not a store\n"
    "  12  format too new               13  locked by another process\n"
    "  14  read-only                    15  permission denied\n"
    "  16  too damaged to be opened     17  out of disk space\n"
    "  18  I/O error\n";

int main_with(int argc, char** argv) {
  CLI::App app("Looks after a store of gridmount's.", "gridstore");
  app.set_version_flag("--version", std::string("gridstore version: ") + GRIDMOUNT_VERSION);
  app.footer(kExitStatuses);
  app.require_subcommand(1);

  CheckOptions check;
  CLI::App* check_command =
      app.add_subcommand("check",
                         "Reads everything and reports damage, one line per problem; also while "
                         "the store is in use");
  check_command->add_option("STORE", check.store, "the store's folder")->required();
  check_command->add_option("--db", check.database,
                            "check the GridFS buckets of this database only (the structure is "
                            "checked whole)");
  check_command->add_flag("--json", check.json, "one JSON document per line");
  check_command->footer(kExitStatuses);

  StatsOptions stats;
  CLI::App* stats_command = app.add_subcommand(
      "stats", "Tells what the store holds and occupies, also while it is in use");
  stats_command->add_option("STORE", stats.store, "the store's folder")->required();
  stats_command->add_flag("--json", stats.json, "one JSON document");
  stats_command->footer(kExitStatuses);

  ServeOptions serve;
  serve.endpoint.arguments.assign(argv, argv + argc);
  CLI::App* serve_command = app.add_subcommand(
      "serve",
      "Answers MongoDB's wire protocol on gridmount.sock in the store, and on TCP if asked");
  serve_command->add_option("STORE", serve.store, "the store's folder")->required();
  serve_command->add_flag("--create", serve.create, "make the store if there is none");
  serve_command
      ->add_option("--listen", serve.endpoint.listen,
                   "HOST:PORT of TCP; may be given several times")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  serve_command->add_flag("--no-auth", serve.endpoint.no_auth,
                          "let clients of TCP in without a password; loopback addresses only");
  serve_command
      ->add_option("--tls-certificate-key-file", serve.endpoint.tls_certificate_key_file,
                   "PEM file with the certificate and its key: TLS on TCP")
      ->type_name("FILE");
  serve_command
      ->add_option("--tls-ca-file", serve.endpoint.tls_ca_file,
                   "PEM file of who may have signed clients' certificates")
      ->type_name("FILE");
  serve_command->footer(kExitStatuses);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has numbers of its own for wrong usage; --help and --version are no errors.
    return static_cast<int>(app.exit(error) == 0 ? ExitStatus::kOk : ExitStatus::kFailure);
  }
  if (serve_command->parsed()) return static_cast<int>(run_serve(serve));
  ExitStatus status = stats_command->parsed() ? run_stats(stats) : run_check(check);
  if (fflush(stdout) != 0 || ferror(stdout) != 0) {
    fputs("gridstore: stdout could not be written; lines are missing from it\n", stderr);
    if (status == ExitStatus::kOk) status = ExitStatus::kFailure;
  }
  return static_cast<int>(status);
}

}  // namespace

}  // namespace gridmount::tools

int main(int argc, char** argv) {
  return gridmount::tools::main_with(argc, argv);
}
