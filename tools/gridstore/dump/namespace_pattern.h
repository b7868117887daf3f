// Patterns of namespaces, with which mongorestore is told what to restore and under which names.
//
// Of --nsInclude and --nsExclude: `*` stands for any text, `\*` for an asterisk, `\\` for a
// backslash. Of --nsFrom and --nsTo: the same, the n-th asterisk of the one being the n-th of the
// other; or, if --nsFrom has a `$`, variables `$name$`, each of the shortest text that fits.
//
// Thread-safety: as for any value type.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::tools {

// `text` such that as a pattern it stands for itself.
std::string escaped_pattern(std::string_view text);

// Which namespaces are meant.
class NamespaceMatcher {
 public:
  // BadValue for a pattern with a '$'.
  static Result<NamespaceMatcher> parse(std::span<const std::string> patterns);
  // Whether one of them fits.
  bool matches(std::string_view ns) const;

 private:
  using Literals = std::vector<std::string>;  // the texts before, between and behind the asterisks
  std::vector<Literals> patterns_;
};

// What a namespace is called instead.
class NamespaceRenamer {
 public:
  // BadValue for unequal numbers, and for pairs that do not go together.
  static Result<NamespaceRenamer> parse(std::span<const std::string> from,
                                        std::span<const std::string> to);
  // By the last pair that fits; itself if none does.
  std::string renamed(std::string_view ns) const;

 private:
  struct Rule {
    std::vector<std::string> literals;  // of `from`, around its variables
    std::vector<std::string> texts;     // of `to`, around its variables
    std::vector<size_t> variables;      // of `to`: which one of `from`
  };
  static Result<Rule> parse_rule(std::string_view from, std::string_view to);

  std::vector<Rule> rules_;
};

}  // namespace gridmount::tools
