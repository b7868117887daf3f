#include "command_line/store_argument.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "command_line/connection_string.h"
#include "engine/database_name.h"

namespace gridmount::command_line {

CLI::Validator store_folder(std::string instead) {
  return {[instead = std::move(instead)](const std::string& text) {
            if (!is_connection_string(text)) return std::string();
            return "a connection string is not a store folder; " + instead;
          },
          ""};
}

CLI::Validator database_name() {
  return {[](const std::string& text) {
            const Status checked = engine::check_database_name(text);
            return checked ? std::string() : checked.error().message();
          },
          ""};
}

Error with_create_advice(const Error& error, std::string_view command) {
  if (error.code() != ErrorCode::kStoreNotFound) return error;
  return Error(error.code(),
               error.message() + "; '" + std::string(command) + " --create' makes one");
}

Error with_folder_advice(const Error& error) {
  const bool has_no_store =
      error.code() == ErrorCode::kStoreNotFound || error.code() == ErrorCode::kNotAStore;
  if (!has_no_store) return error;
  return Error(error.code(),
               error.message() + "; give the folder of a store, which has a file 'format'");
}

}  // namespace gridmount::command_line
