#include "tools/gridfiles/argument_parser.h"

#include <optional>

#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using Argument = OptionDefinition::Argument;

// "-" and "--" are not options.
bool looks_like_option(std::string_view text) {
  if (text.size() > 1 && text[0] == '-' && text[1] != '-') return true;
  return text.size() > 2 && text[0] == '-' && text[1] == '-' && text[2] != '-';
}

class Parser {
 public:
  Parser(std::span<const OptionDefinition> definitions, std::span<const std::string> arguments)
      : definitions_(definitions), arguments_(arguments) {}

  Result<GivenArguments> run() {
    while (next_ < arguments_.size()) {
      const std::string& text = arguments_[next_++];
      if (text == "--") {
        while (next_ < arguments_.size()) given_.positionals.push_back(arguments_[next_++]);
      } else if (!looks_like_option(text)) {
        given_.positionals.push_back(text);
      } else if (text[1] == '-') {
        GM_TRY(parse_long(std::string_view(text).substr(2)));
      } else {
        GM_TRY(parse_short(std::string_view(text).substr(1)));
      }
    }
    return std::move(given_);
  }

 private:
  const OptionDefinition* find_long(std::string_view name) const {
    for (const OptionDefinition& definition : definitions_) {
      if (definition.long_name == name) return &definition;
    }
    return nullptr;
  }

  const OptionDefinition* find_short(char name) const {
    for (const OptionDefinition& definition : definitions_) {
      if (definition.short_name == name) return &definition;
    }
    return nullptr;
  }

  static auto unknown(std::string_view name) {
    return fail(ErrorCode::kFailedToParse, "unknown option " + in_quotes(name));
  }

  Status parse_long(std::string_view text) {
    std::optional<std::string_view> value;
    if (size_t equals = text.find('='); equals != std::string_view::npos) {
      value = text.substr(equals + 1);
      text = text.substr(0, equals);
    }
    const OptionDefinition* definition = find_long(text);
    if (definition == nullptr) return unknown(text);
    return take(*definition, value, true);
  }

  // `text` is the part after the dash: one or more letters. Only the first letter may have a value
  // attached, and only the last letter may take the next argument as its value.
  Status parse_short(std::string_view text) {
    std::string_view whole = text;
    std::optional<std::string_view> value;
    if (text.size() > 1 && text[1] == '=') {
      value = text.substr(2);
      text = text.substr(0, 1);
    } else if (text.size() > 1) {
      const OptionDefinition* first = find_short(text[0]);
      if (first != nullptr && first->argument != Argument::kNone) {
        value = text.substr(1);
        text = text.substr(0, 1);
      }
    }
    for (size_t i = 0; i < text.size(); ++i) {
      const OptionDefinition* definition = find_short(text[i]);
      // Like go-flags, names the whole group of letters, without an attached value.
      if (definition == nullptr) return unknown(value ? text : whole);
      GM_TRY(take(*definition, value, i + 1 == text.size()));
      value.reset();
    }
    return {};
  }

  Status take(const OptionDefinition& definition, std::optional<std::string_view> value,
              bool may_take_next) {
    std::string flag = "flag `" + definition.display_name() + "'";
    if (definition.argument == Argument::kNone) {
      if (value) {
        return fail(ErrorCode::kFailedToParse, "bool " + flag + " cannot have an argument");
      }
      given_.options.push_back({&definition, {}});
      return {};
    }
    if (!value && definition.argument == Argument::kRequired) {
      if (!may_take_next || next_ == arguments_.size()) {
        return fail(ErrorCode::kFailedToParse, "expected argument for " + flag);
      }
      value = arguments_[next_++];
      if (looks_like_option(*value)) {
        return fail(
            ErrorCode::kFailedToParse,
            "expected argument for " + flag + ", but got option `" + std::string(*value) + "'");
      }
    }
    given_.options.push_back({&definition, std::string(value.value_or(""))});
    return {};
  }

  std::span<const OptionDefinition> definitions_;
  std::span<const std::string> arguments_;
  size_t next_ = 0;
  GivenArguments given_;
};

}  // namespace

std::string OptionDefinition::display_name() const {
  std::string name;
  if (short_name != 0) name = std::string("-") + short_name + ", ";
  return name + "--" + std::string(long_name);
}

Result<GivenArguments> parse_arguments(std::span<const OptionDefinition> definitions,
                                       std::span<const std::string> arguments) {
  return Parser(definitions, arguments).run();
}

}  // namespace gridmount::tools
