// Regular expressions with MongoDB's syntax and options. PCRE2 matches them, in bounded time
// (bounded_regex.h). Internal to engine/query. A Regex is thread-safe.
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

// try_match() and find() check the interruptions of their thread (interruption.h), and fail with
// the error of an interruption. They fail with Location51156 if the match exceeds a limit of PCRE2,
// or needs more than two seconds of processor time.
class Regex {
 public:
  // Compiles a pattern. The valid options are i, m, s, x and u. The option u (UTF-8) is always on.
  // Fails with Location51091 for an invalid pattern, and with Location51108 for any other option.
  static Result<Regex> compile(std::string_view pattern, std::string_view options);

  ~Regex();
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;

  // Returns whether the text has a match. The text need not be UTF-8.
  Result<bool> try_match(std::string_view text) const;

  // Finds the first match at or after `from`. Returns the byte range of the whole match, and then
  // the byte range of each group, or nullopt for a group that is not part of the match. Returns an
  // empty vector if there is no match.
  struct CaptureRange {
    size_t begin;
    size_t end;
  };
  using Captures = std::vector<std::optional<CaptureRange>>;
  Result<Captures> find(std::string_view text, size_t from) const;

  const std::string& pattern() const { return pattern_; }
  const std::string& options() const { return options_; }
  // If the pattern begins with "^" or "\A" and literal text, returns this literal text. Every text
  // that matches then begins with it. Returns an empty text for any other pattern, for a pattern
  // with a '|', and if the options have i, m or x.
  const std::string& literal_prefix() const { return literal_prefix_; }
  // Returns about how many bytes of memory the expression uses.
  size_t bytes() const;

 private:
  Regex();

  std::string pattern_;
  std::string options_;
  std::string literal_prefix_;
  std::unique_ptr<BoundedRegex> code_;
};

// The error code for a match that exceeds a limit. An interrupted match fails with the error of the
// interruption instead.
inline constexpr ErrorCode kRegexGivenUp{51156};

}  // namespace gridmount::query
