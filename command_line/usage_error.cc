#include "command_line/usage_error.h"

#include <CLI/CLI.hpp>
#include <vector>

namespace gridmount::command_line {

namespace {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const bool lacks_command = has_commands(app) && app.get_subcommands().empty();
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool is_about_presence =
      code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError;
  if (is_about_presence && !unknown.empty()) {
    const std::string& word = unknown.front();
    const char* const kind = word.size() > 1 && word[0] == '-' ? "unknown option"
                             : lacks_command                   ? "unknown command"
                                                               : "unexpected argument";
    return one_line(kind + (" '" + word + "'"));
  }
  return lacks_command && is_about_presence ? "no command given" : one_line(error.what());
}

}  // namespace gridmount::command_line
