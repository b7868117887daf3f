#include "tools/gridstore/dump/archive_flag.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace gridmount::tools {

namespace {

// CLI11's notation for the value of a flag that the user gives without a value.
constexpr std::string_view kDefault = "{-}";

// Shows the flag in --help as the user must write it.
class Formatter final : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    if (name.ends_with(kDefault))
      name.replace(name.size() - kDefault.size(), kDefault.size(), "[=FILE]");
    return name;
  }
};

}  // namespace

void add_archive_flag(CLI::App& command, std::string& archive, const std::string& description) {
  command.formatter(std::make_shared<Formatter>());
  command.add_flag("--archive" + std::string(kDefault), archive, description);
}

}  // namespace gridmount::tools
