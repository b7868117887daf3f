// Parses command lines by the grammar of mongofiles, which uses Go's library go-flags.
//
// Scripts depend on details that CLI11, which gridstore uses, would parse differently:
// - `-d=g` gives "g" (CLI11: "=g");
// - in `-rl file` the value belongs to -l, but `-rlfile` is an error, because only the first option
//   of a group may have its value attached;
// - `-vvv` and `-v=3` are one option with an optional argument;
// - a value that is an argument of its own must not look like an option;
// - an option may be given several times, and all its values are returned;
// - the errors have the texts of go-flags, which scripts read.
//
// Thread-safe: functions without state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::tools {

struct OptionDefinition {
  enum class Argument { kNone, kRequired, kOptional };

  char short_name = 0;  // 0: none
  std::string_view long_name;
  Argument argument = Argument::kNone;
  std::string_view value_name;   // for the help; empty if the option has no value
  std::string_view description;  // for the help

  // Returns the name that error messages use: "-l, --local".
  std::string display_name() const;
};

struct GivenOption {
  const OptionDefinition* definition = nullptr;
  std::string value;  // empty if the option has no value
};

struct GivenArguments {
  std::vector<GivenOption> options;  // in the order of the command line
  std::vector<std::string> positionals;
};

// `definitions` must outlive the result. Unlike in mongofiles, "--" ends the options, so that a
// name may begin with a dash. Fails with FailedToParse and the message of go-flags.
Result<GivenArguments> parse_arguments(std::span<const OptionDefinition> definitions,
                                       std::span<const std::string> arguments);

}  // namespace gridmount::tools
