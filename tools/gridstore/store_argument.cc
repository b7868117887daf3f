#include "command_line/store_argument.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <utility>

#include "command_line/connection_string.h"
#include "command_line/password.h"
#include "command_line/store_opening.h"
#include "engine/mongo/mongo_store.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

constexpr double kServerSecondsMin = 0.1;
constexpr double kServerSecondsMax = 24 * 60 * 60;

}  // namespace

void add_store_argument(CLI::App& command, std::filesystem::path& store) {
  command.add_option("STORE", store, "the store's folder")
      ->type_name("")
      ->required()
      ->check(command_line::store_folder(
          "only aggregate, check, dump, export, import, query, restore, stats and top take one"));
}

void add_store_or_deployment(CLI::App& command, StoreArgument& argument) {
  command
      .add_option("STORE", argument.text,
                  "the store's folder, or the connection string of a MongoDB deployment")
      ->type_name("")
      ->required();
  command
      .add_option("--password-file", argument.password_file,
                  "deployments only: file whose first line is the password of the user in the "
                  "connection string; default: the variable GRIDMOUNT_PASSWORD, or a prompt")
      ->type_name("FILE");
  command
      .add_option("--server-timeout", argument.server_seconds,
                  "deployments only: how long to wait for a server that takes the commands")
      ->type_name("SECONDS")
      ->check(CLI::Range(kServerSecondsMin, kServerSecondsMax).description(""))
      ->default_str("30");
}

bool StoreArgument::is_deployment() const {
  return command_line::is_connection_string(text);
}

std::string StoreArgument::shown() const {
  return is_deployment() ? command_line::without_secrets(text) : text;
}

Status check_fits(const StoreArgument& argument) {
  GM_TRY(command_line::check_connection_string(argument.text));
  const bool has_file = !argument.password_file.empty();
  if (argument.is_deployment() || (!has_file && !argument.server_seconds)) return {};
  return fail(ErrorCode::kBadValue, std::string(has_file ? "--password-file" : "--server-timeout") +
                                        " is for MongoDB deployments, not for a store in a folder");
}

Result<mongo::ConnectOptions> connect_options(const StoreArgument& argument) {
  mongo::ConnectOptions how;
  GM_ASSIGN(how.uri, command_line::uri_with_password(argument.text, argument.password_file));
  how.application = "gridstore";
  if (argument.server_seconds) {
    constexpr double kMillisecondsPerSecond = 1000;
    how.server_timeout =
        std::chrono::milliseconds(std::llround(*argument.server_seconds * kMillisecondsPerSecond));
  }
  return how;
}

Result<StoreInUse> open_argument(const StoreArgument& argument, const local::OpenOptions& options) {
  StoreInUse opened;
  GM_TRY(check_fits(argument));
  if (!argument.is_deployment()) {
    GM_ASSIGN(opened.store, command_line::open_store(argument.folder(), options));
    opened.owner = local::owner_beside(*opened.store);
    return opened;
  }
  GM_ASSIGN(opened.database, mongo::database_of(argument.text));
  GM_ASSIGN(mongo::ConnectOptions how, connect_options(argument));
  how.reads_by_preference = options.read_only;
  GM_ASSIGN(opened.store, mongo::connect(how));
  opened.is_deployment = true;
  return opened;
}

Result<std::string> selected_database(const std::string& named, const std::string& given) {
  if (!given.empty() && !named.empty() && given != named) {
    return fail(ErrorCode::kBadValue,
                "--db " + given + " contradicts the connection string, which names " + named);
  }
  return given.empty() ? named : given;
}

}  // namespace gridmount::tools
