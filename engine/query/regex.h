// A regular expression as MongoDB takes them, over PCRE2. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::query {

// An option that there is not.
inline constexpr ErrorCode kInvalidRegexOption{51108};

class RegexCode;

// Thread-safe once made.
//
// A match asks meanwhile whether it is to end (interruption.h), and gives its error then. What
// takes more backtracking than PCRE2 is allowed, or more than two seconds of processor time, is
// given up: Location51156.
class Regex {
 public:
  // Options are i, m, s, x and u (which is always on). Location51091 for a pattern that is none,
  // Location51108 for another option.
  static Result<Regex> compile(std::string_view pattern, std::string_view options);

  ~Regex();
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;

  // Text need not be UTF-8.
  Result<bool> try_match(std::string_view text) const;

  // The first match at `from` or behind it: the bytes of the whole, then of each group, nothing for
  // a group that took no part. Empty if there is no match.
  struct Range {
    size_t begin;
    size_t end;
  };
  using Captures = std::vector<std::optional<Range>>;
  Result<Captures> find(std::string_view text, size_t from) const;

  const std::string& pattern() const { return pattern_; }
  const std::string& options() const { return options_; }
  // What every match begins with, if the pattern is anchored and says so; empty otherwise.
  const std::string& literal_prefix() const { return literal_prefix_; }
  // Of memory, about.
  size_t bytes() const;

 private:
  Regex();

  std::string pattern_;
  std::string options_;
  std::string literal_prefix_;
  std::unique_ptr<RegexCode> code_;
};

// A match was given up, not ended by its interruption.
inline constexpr ErrorCode kRegexGivenUp{51156};

}  // namespace gridmount::query
