#include "tools/gridstore/compact_command.h"

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/local/integrity/store_copy.h"
#include "tools/gridstore/message.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

ExitStatus run_compact(const std::filesystem::path& store) {
  const Result<local::Compaction> compaction = local::compact_store(store);
  if (!compaction) {
    print_message(compaction.error().message());
    return exit_status_of(compaction.error().code());
  }
  printf("%s: %" PRIu64 " bytes before, %" PRIu64 " now\n", store.c_str(), compaction->bytes_before,
         compaction->bytes_after);
  return ExitStatus::kOk;
}

}  // namespace

Subcommand add_compact(CLI::App& app) {
  const auto store = std::make_shared<std::filesystem::path>();
  CLI::App* const command = app.add_subcommand(
      "compact",
      "Returns the store's free space to the file system; only while the store is not in use");
  add_store_argument(*command, *store);
  return {command, [store] { return run_compact(*store); }};
}

}  // namespace gridmount::tools
