// $regexMatch, $regexFind and $regexFindAll. Source: MongoDB manual, "String Expression Operators".

#include <array>

#include "engine/query/expression/operator.h"
#include "engine/query/expression/utf8.h"
#include "engine/query/regex.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

enum class Kind { kMatch, kFind, kFindAll };

class RegexExpression final : public Expression {
 public:
  RegexExpression(std::string name, Kind kind, std::vector<ExpressionPointer> arguments)
      : name_(std::move(name)), kind_(kind), arguments_(std::move(arguments)) {}

  bool has_constant_regex() const {
    return is_constant(*arguments_[1]) && (!arguments_[2] || is_constant(*arguments_[2]));
  }
  // Compiles a regular expression that is the same for every document.
  Status prepare() {
    const MaybeValue options = arguments_[2] ? constant_value(*arguments_[2]) : std::nullopt;
    GM_ASSIGN(prepared_, compile(constant_value(*arguments_[1]), options));
    is_prepared_ = true;
    return {};
  }

  Evaluated evaluate(EvaluationContext& context) const override {
    GM_ASSIGN(const MaybeValue input, arguments_[0]->evaluate(context));
    if (!is_nullish(input) && !is_type(input, Type::kString)) {
      return fail(ErrorCode{51104}, name_ + " needs 'input' to be of type string");
    }
    if (is_prepared_) return apply(context, input, prepared_);
    GM_ASSIGN(const MaybeValue pattern, arguments_[1]->evaluate(context));
    MaybeValue options;
    if (arguments_[2]) {
      GM_ASSIGN(options, arguments_[2]->evaluate(context));
    }
    GM_ASSIGN(const std::optional<Regex> regex, compile(pattern, options));
    return apply(context, input, regex);
  }
  void add_dependencies(std::set<std::string>& paths) const override {
    for (const ExpressionPointer& argument : arguments_) {
      if (argument) argument->add_dependencies(paths);
    }
  }

 private:
  Result<std::optional<Regex>> compile(const MaybeValue& pattern, const MaybeValue& options) const;
  Evaluated apply(EvaluationContext& context, const MaybeValue& input,
                  const std::optional<Regex>& regex) const;
  Result<Regex::Captures> find(const Regex& regex, std::string_view text, size_t from) const;
  // Returns {match, idx, captures}. `code_points` is the number of code points before the match.
  static Evaluated describe(EvaluationContext& context, std::string_view text,
                            const Regex::Captures& captures, int32_t code_points);
  Evaluated find_all(EvaluationContext& context, std::string_view text, const Regex& regex) const;

  std::string name_;
  Kind kind_;
  std::vector<ExpressionPointer> arguments_;  // input, regex, options or null
  bool is_prepared_ = false;
  std::optional<Regex> prepared_;  // nullopt if the regex is null
};

Result<std::optional<Regex>> RegexExpression::compile(const MaybeValue& pattern,
                                                      const MaybeValue& options) const {
  if (!is_nullish(pattern) && !is_type(pattern, Type::kString) && !is_type(pattern, Type::kRegex)) {
    return fail(ErrorCode{51105}, name_ + " needs 'regex' to be of type string or regex");
  }
  if (!is_nullish(options) && !is_type(options, Type::kString)) {
    return fail(ErrorCode{51106}, name_ + " needs 'options' to be of type string");
  }
  std::string_view source;
  std::string_view flags;
  if (is_type(pattern, Type::kRegex)) {
    source = pattern->as_regex().pattern;
    flags = pattern->as_regex().options;
    if (!is_nullish(options) && !flags.empty()) {
      return fail(ErrorCode{51107},
                  name_ + ": found regex option(s) specified in both 'regex' and 'option' fields");
    }
  } else if (is_type(pattern, Type::kString)) {
    source = pattern->as_string();
  }
  if (!is_nullish(options)) flags = options->as_string();
  if (source.find('\0') != std::string_view::npos) {
    return fail(ErrorCode{51109},
                name_ + ": regular expression cannot contain an embedded null byte");
  }
  if (flags.find('\0') != std::string_view::npos) {
    return fail(ErrorCode{51110},
                name_ + ": regular expression options cannot contain an embedded null byte");
  }
  if (is_nullish(pattern)) return std::optional<Regex>();
  Result<Regex> regex = Regex::compile(source, flags);
  if (regex) return std::optional<Regex>(std::move(*regex));
  if (regex.error().code() == kInvalidRegexOption) {
    return fail(kInvalidRegexOption, name_ + " " + regex.error().message());
  }
  return fail(ErrorCode{51111}, "Invalid Regex in " + name_ + ": " + regex.error().message());
}

Result<Regex::Captures> RegexExpression::find(const Regex& regex, std::string_view text,
                                              size_t from) const {
  Result<Regex::Captures> captures = regex.find(text, from);
  if (captures || captures.error().code() != kRegexGivenUp) return captures;
  return fail(captures.error().code(), "Error occurred while executing the regular expression in " +
                                           name_ + ". Result code: " + captures.error().message());
}

Evaluated RegexExpression::describe(EvaluationContext& context, std::string_view text,
                                    const Regex::Captures& captures, int32_t code_points) {
  const auto part = [&](const Regex::CaptureRange& range) {
    return give(context, text.substr(range.begin, range.end - range.begin));
  };
  ValueOutput groups(context, Type::kArray);
  for (size_t i = 1; i < captures.size(); ++i) {
    MaybeValue group = null_value();
    if (captures[i]) {
      GM_ASSIGN(group, part(*captures[i]));
    }
    GM_TRY(groups.push_element(*group));
  }
  ValueOutput match(context, Type::kDocument);
  GM_ASSIGN(const MaybeValue whole, part(*captures[0]));
  GM_TRY(match.append_field("match", *whole));
  GM_ASSIGN(const MaybeValue index, give(context, code_points));
  GM_TRY(match.append_field("idx", *index));
  GM_ASSIGN(const MaybeValue all, groups.finish());
  GM_TRY(match.append_field("captures", *all));
  return match.finish();
}

Evaluated RegexExpression::find_all(EvaluationContext& context, std::string_view text,
                                    const Regex& regex) const {
  constexpr size_t kOutputBytesMax = size_t{64} << 20;
  ValueOutput output(context, Type::kArray);
  const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
  size_t from = 0;
  size_t bytes = 0;
  int32_t code_points = 0;
  do {
    GM_ASSIGN(const Regex::Captures captures, find(regex, text, from));
    if (captures.empty()) break;
    const Regex::CaptureRange whole = *captures[0];
    code_points += static_cast<int32_t>(count_code_points(text.substr(from, whole.begin - from)));
    GM_ASSIGN(const MaybeValue match, describe(context, text, captures, code_points));
    bytes += match->size();
    if (bytes > kOutputBytesMax) {
      return fail(ErrorCode{51151},
                  name_ + ": the size of buffer to store output exceeded the 64MB limit");
    }
    GM_TRY(output.push_element(*match));
    ArenaAccess::rewind(context.arena, mark);
    // After an empty match, the next match begins at least one code point later.
    from = whole.end > whole.begin ? whole.end
                                   : std::min(next_code_point(text, whole.begin), text.size() + 1);
    if (from > text.size()) break;
    code_points +=
        static_cast<int32_t>(count_code_points(text.substr(whole.begin, from - whole.begin)));
  } while (from < text.size());
  return output.finish();
}

Evaluated RegexExpression::apply(EvaluationContext& context, const MaybeValue& input,
                                 const std::optional<Regex>& regex) const {
  const bool is_null = is_nullish(input) || !regex;
  switch (kind_) {
    case Kind::kMatch: {
      if (is_null) return give(false);
      GM_ASSIGN(const Regex::Captures captures, find(*regex, input->as_string(), 0));
      return give(!captures.empty());
    }
    case Kind::kFind: {
      if (is_null) return make_null();
      const std::string_view text = input->as_string();
      GM_ASSIGN(const Regex::Captures captures, find(*regex, text, 0));
      if (captures.empty()) return make_null();
      return describe(context, text, captures,
                      static_cast<int32_t>(count_code_points(text.substr(0, captures[0]->begin))));
    }
    case Kind::kFindAll:
      break;
  }
  if (is_null) return ValueOutput(context, Type::kArray).finish();
  return find_all(context, input->as_string(), *regex);
}

template <Kind kind>
Result<ExpressionPointer> parse_regex(const Operator& op, ValueView operand,
                                      ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"input", "regex", "options"};
  const std::string name(op.name);
  const std::string not_an_object =
      name + " expects an object of named arguments but found: " + std::string(type_name(operand));
  const std::string unknown = name + " found an unknown argument: ";
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{51103},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{31024},
                        .unknown_message = unknown},
                       operand));
  GM_TRY(require(operands[0].has_value(), ErrorCode{31022}, name + " requires 'input' parameter"));
  GM_TRY(require(operands[1].has_value(), ErrorCode{31023}, name + " requires 'regex' parameter"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  const bool is_input_constant = is_constant(*arguments[0]);
  auto made = std::make_unique<RegexExpression>(name, kind, std::move(arguments));
  if (!made->has_constant_regex()) return made;
  if (const Status prepared = made->prepare(); !prepared) {
    if (context.unreached == 0) return fail(prepared.error());
    return made;
  }
  if (!is_input_constant) return made;
  return fold(std::move(made), context);
}

constexpr Operator kRegexOperators[] = {
    {.name = "$regexMatch", .parse = parse_regex<Kind::kMatch>},
    {.name = "$regexFind", .parse = parse_regex<Kind::kFind>},
    {.name = "$regexFindAll", .parse = parse_regex<Kind::kFindAll>},
};

}  // namespace

std::span<const Operator> regex_operators() {
  return kRegexOperators;
}

}  // namespace gridmount::query::expressions
