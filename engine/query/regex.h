// Regular expressions with MongoDB's syntax and options, matched by PCRE2 in bounded time
// (bounded_regex.h). Internal to engine/query.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::query {

// The error code for an unknown option.
inline constexpr ErrorCode kInvalidRegexOption{51108};

class BoundedRegex;

// Thread-safe after construction.
//
// While a match runs, it checks the interruption of its thread (interruption.h) and fails with the
// interruption's error. A match that exceeds PCRE2's backtracking limit, or two seconds of
// processor time, fails with Location51156.
class Regex {
 public:
  // The options are i, m, s, x and u, where u is always on. Fails with Location51091 for an invalid
  // pattern and with Location51108 for any other option.
  static Result<Regex> compile(std::string_view pattern, std::string_view options);

  ~Regex();
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;

  // The text need not be UTF-8.
  Result<bool> try_match(std::string_view text) const;

  // Finds the first match at or after `from`. Returns the byte range of the whole match, then that
  // of each group, with nullopt for a group that took no part. Returns an empty vector if there is
  // no match.
  struct CaptureRange {
    size_t begin;
    size_t end;
  };
  using Captures = std::vector<std::optional<CaptureRange>>;
  Result<Captures> find(std::string_view text, size_t from) const;

  const std::string& pattern() const { return pattern_; }
  const std::string& options() const { return options_; }
  // The literal text that every match begins with, if the pattern is anchored and starts with one.
  // Otherwise empty.
  const std::string& literal_prefix() const { return literal_prefix_; }
  // Approximate memory, in bytes.
  size_t bytes() const;

 private:
  Regex();

  std::string pattern_;
  std::string options_;
  std::string literal_prefix_;
  std::unique_ptr<BoundedRegex> code_;
};

// The match exceeded a limit. An interrupted match has the interruption's error instead.
inline constexpr ErrorCode kRegexGivenUp{51156};

}  // namespace gridmount::query
