// A regular expression as MongoDB takes them, over PCRE2. Internal to this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace gridmount::query {

// Thread-safe once made.
class Regex {
 public:
  // Options are i, m, s, x and u (which is always on). Location51091 for a pattern that is none,
  // Location51108 for another option.
  static Result<Regex> compile(std::string_view pattern, std::string_view options);

  // Text need not be UTF-8. An attempt that exceeds PCRE2's limits (backtracking without end) is
  // given up and does not match.
  bool matches(std::string_view text) const;

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
