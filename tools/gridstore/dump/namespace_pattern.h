// Patterns of namespaces, which select and rename the collections that a restore makes, as in
// mongorestore.
//
// In --nsInclude and --nsExclude, `*` matches any text, `\*` an asterisk, and `\\` a backslash. Any
// other backslash is dropped. The n-th asterisk of --nsFrom corresponds to the n-th asterisk of
// --nsTo. If --nsFrom contains a `$`, the patterns have variables `$name$` instead, each of which
// matches the shortest possible text.
//
// Thread-safe: the classes are immutable after parse().
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::tools {

// Returns a pattern that matches only `text`. `text` must not contain '$', which cannot be escaped.
std::string escaped_pattern(std::string_view text);

// Selects namespaces.
class NamespaceMatcher {
 public:
  // Fails with BadValue for a pattern that contains '$'.
  static Result<NamespaceMatcher> parse(std::span<const std::string> patterns);
  // Returns true if one of the patterns matches.
  bool matches(std::string_view ns) const;

 private:
  using Literals = std::vector<std::string>;  // the texts before, between and after the asterisks
  std::vector<Literals> patterns_;
};

// Renames namespaces.
class NamespaceRenamer {
 public:
  // Fails with BadValue if the lists have different lengths, if the patterns of a pair have
  // different numbers of asterisks and no variables, if `to` has a variable that `from` does not
  // have, if a variable occurs twice in `from`, or if a pattern with variables has an odd number of
  // dollar signs.
  static Result<NamespaceRenamer> parse(std::span<const std::string> from,
                                        std::span<const std::string> to);
  // Applies the last pair that matches. Returns the name unchanged if no pair matches.
  std::string renamed(std::string_view ns) const;

 private:
  struct Rule {
    std::vector<std::string> literals;  // of `from`, around its variables
    std::vector<std::string> texts;     // of `to`, around its variables
    // For each variable of `to`, the index of that variable in `from`.
    std::vector<size_t> variables;
  };
  static Result<Rule> parse_rule(std::string_view from, std::string_view to);

  std::vector<Rule> rules_;
};

}  // namespace gridmount::tools
