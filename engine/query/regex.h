// A regular expression as MongoDB takes them, over PCRE2. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"

namespace gridmount::query {

// Thread-safe once made.
class Regex {
 public:
  // Options are i, m, s, x and u (which is always on). Location51091 for a pattern that is none,
  // Location51108 for another option.
  static Result<Regex> compile(std::string_view pattern, std::string_view options);

  // Text need not be UTF-8. An attempt that exceeds PCRE2's limits (backtracking without end) is
  // given up: Location51156.
  Result<bool> try_match(std::string_view text) const;
  // The same where giving up is no match.
  bool matches(std::string_view text) const { return try_match(text).value_or(false); }

  // The first match at `from` or behind it: the bytes of the whole, then of each group, nothing for
  // a group that took no part. Empty if there is no match. Location51156 if the attempt is given
  // up.
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

 private:
  struct Free {
    void operator()(void* code) const;
  };

  Regex() = default;

  std::string pattern_;
  std::string options_;
  std::string literal_prefix_;
  std::unique_ptr<void, Free> code_;  // pcre2_code
};

}  // namespace gridmount::query
