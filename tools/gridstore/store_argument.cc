#include "tools/gridstore/store_argument.h"

#include <CLI/CLI.hpp>

#include "command_line/store_argument.h"

namespace gridmount::tools {

void add_store_argument(CLI::App& command, std::filesystem::path& store) {
  command.add_option("STORE", store, "the store's folder")
      ->required()
      ->check(command_line::store_folder(
          "gridstore works on stores in folders, as mongodump and mongorestore do on deployments"));
}

}  // namespace gridmount::tools
