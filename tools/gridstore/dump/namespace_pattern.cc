#include "tools/gridstore/dump/namespace_pattern.h"

#include <algorithm>

#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// A parsed pattern: n variables with n + 1 literals around them.
struct Parts {
  std::vector<std::string> literals = {""};
  std::vector<std::string> variables;
};

// Parses a pattern with asterisks, whose variables have no names.
Parts parse_asterisks(std::string_view pattern) {
  Parts parts;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      // A backslash before any other character is dropped.
      if (at + 1 < pattern.size() && (pattern[at + 1] == '*' || pattern[at + 1] == '\\')) {
        parts.literals.back() += pattern[++at];
      }
    } else if (c == '*') {
      parts.variables.emplace_back();
      parts.literals.emplace_back();
    } else {
      parts.literals.back() += c;
    }
  }
  return parts;
}

Result<Parts> parse_variables(std::string_view pattern) {
  Parts parts;
  while (true) {
    const size_t begin = pattern.find('$');
    parts.literals.back() += pattern.substr(0, begin);
    if (begin == std::string_view::npos) return parts;
    const size_t end = pattern.find('$', begin + 1);
    if (end == std::string_view::npos) {
      return fail(ErrorCode::kBadValue, "the number of dollar signs is odd");
    }
    parts.variables.emplace_back(pattern.substr(begin + 1, end - begin - 1));
    parts.literals.emplace_back();
    pattern.remove_prefix(end + 1);
  }
}

// Returns the values of the variables between the literals. Each literal matches at its first
// occurrence, which leaves the most text for the following ones.
std::optional<std::vector<std::string_view>> match(const std::vector<std::string>& literals,
                                                   std::string_view text) {
  if (literals.size() == 1) {
    if (text != literals.front()) return std::nullopt;
    return std::vector<std::string_view>();
  }
  if (!text.starts_with(literals.front())) return std::nullopt;
  text.remove_prefix(literals.front().size());
  std::vector<std::string_view> values;
  for (size_t i = 1; i + 1 < literals.size(); ++i) {
    const size_t at = text.find(literals[i]);
    if (at == std::string_view::npos) return std::nullopt;
    values.push_back(text.substr(0, at));
    text.remove_prefix(at + literals[i].size());
  }
  if (!text.ends_with(literals.back())) return std::nullopt;
  values.push_back(text.substr(0, text.size() - literals.back().size()));
  return values;
}

}  // namespace

std::string escaped_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

Result<NamespaceMatcher> NamespaceMatcher::parse(std::span<const std::string> patterns) {
  NamespaceMatcher matcher;
  for (const std::string& pattern : patterns) {
    if (pattern.find('$') != std::string::npos) {
      return fail(ErrorCode::kBadValue, "'$' is not allowed in the pattern " + in_quotes(pattern));
    }
    matcher.patterns_.push_back(parse_asterisks(pattern).literals);
  }
  return matcher;
}

bool NamespaceMatcher::matches(std::string_view ns) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const Literals& literals) { return match(literals, ns).has_value(); });
}

Result<NamespaceRenamer::Rule> NamespaceRenamer::parse_rule(std::string_view from,
                                                            std::string_view to) {
  Rule rule;
  if (from.find('$') == std::string_view::npos) {
    Parts source = parse_asterisks(from);
    Parts target = parse_asterisks(to);
    if (source.variables.size() != target.variables.size()) {
      return fail(ErrorCode::kBadValue, "the numbers of asterisks differ");
    }
    rule.literals = std::move(source.literals);
    rule.texts = std::move(target.literals);
    for (size_t i = 0; i < target.variables.size(); ++i) rule.variables.push_back(i);
    return rule;
  }
  GM_ASSIGN(Parts source, parse_variables(from));
  GM_ASSIGN(Parts target, parse_variables(to));
  const auto begin = source.variables.begin();
  for (auto name = begin; name != source.variables.end(); ++name) {
    if (std::find(begin, name, *name) != name) {
      return fail(ErrorCode::kBadValue, "the variable " + in_quotes(*name) + " is given twice");
    }
  }
  for (const std::string& name : target.variables) {
    const auto found = std::find(begin, source.variables.end(), name);
    if (found == source.variables.end()) {
      return fail(ErrorCode::kBadValue, "the variable " + in_quotes(name) + " is not known");
    }
    rule.variables.push_back(static_cast<size_t>(found - begin));
  }
  rule.literals = std::move(source.literals);
  rule.texts = std::move(target.literals);
  return rule;
}

Result<NamespaceRenamer> NamespaceRenamer::parse(std::span<const std::string> from,
                                                 std::span<const std::string> to) {
  if (from.size() != to.size()) {
    return fail(ErrorCode::kBadValue, "--nsFrom and --nsTo must be given an equal number of times");
  }
  NamespaceRenamer renamer;
  for (size_t i = from.size(); i-- > 0;) {
    Result<Rule> rule = parse_rule(from[i], to[i]);
    if (!rule) {
      return fail(std::move(rule).error().with_context(
          "invalid replacement from " + in_quotes(from[i]) + " to " + in_quotes(to[i])));
    }
    renamer.rules_.push_back(std::move(rule).value());
  }
  return renamer;
}

std::string NamespaceRenamer::renamed(std::string_view ns) const {
  for (const Rule& rule : rules_) {
    const std::optional<std::vector<std::string_view>> values = match(rule.literals, ns);
    if (!values) continue;
    std::string name = rule.texts.front();
    for (size_t i = 0; i < rule.variables.size(); ++i) {
      name.append((*values)[rule.variables[i]]).append(rule.texts[i + 1]);
    }
    return name;
  }
  return std::string(ns);
}

}  // namespace gridmount::tools
