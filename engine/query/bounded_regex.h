// A regular expression compiled by PCRE2, whose matches end in bounded time. regex.h has the
// syntax, the options and the results. Internal to engine/query.
//
// PCRE2 applies its backtracking limit to each start position separately. JIT-compiled code counts
// only some of the backtracking, and a running match cannot be ended from outside. So a pattern has
// two compiled forms:
// - plain: Used for matches that are sure to be quick: patterns without loops over groups. Each
//   call covers a stretch of start positions, with a backtracking limit so low that a stretch
//   takes about a hundredth of a second.
// - watched: Used for all other matches, and compiled on first use. PCRE2 calls back before each
//   item of the pattern. Between two calls it passes over the text at most once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "engine/base/error.h"

namespace gridmount::query {

// Thread-safe.
class BoundedRegex {
 public:
  // `flags` are PCRE2's. Returns null for an invalid pattern, and sets PCRE2's error number and the
  // offset of the error in the pattern.
  static std::unique_ptr<BoundedRegex> compile(std::string pattern, uint32_t flags, int& error,
                                               size_t& offset);

  ~BoundedRegex();
  BoundedRegex(const BoundedRegex&) = delete;
  BoundedRegex& operator=(const BoundedRegex&) = delete;

  // Returns what pcre2_match() returns for the first match at or after `from`: the number of pairs
  // set in `found`, PCRE2_ERROR_NOMATCH, or the error that ended the match. Fails if the
  // interruption of this thread ends the match.
  Result<int> match(std::string_view text, size_t from, pcre2_match_data* found) const;

  const pcre2_code* plain() const { return plain_.get(); }
  // Approximate memory, in bytes, without the watched form and machine code.
  size_t bytes() const;

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  using Code = std::unique_ptr<pcre2_code, Free>;

  BoundedRegex(std::string pattern, uint32_t flags, Code plain);

  // Compiles `code` to machine code, unless all patterns together already have too much of it.
  void speed_up(pcre2_code* code) const;

  Result<int> match_watched(std::string_view text, size_t from, pcre2_match_data* found) const;
  const pcre2_code* watched() const;

  const std::string pattern_;
  const uint32_t flags_;
  const Code plain_;
  // The pattern has loops over groups, or other items whose cost the limit does not count. Then the
  // plain form is not used.
  bool has_group_loops_ = false;
  // Each start position may read the text to its end.
  bool has_loops_ = false;
  // A match can begin at one position only.
  bool is_anchored_ = false;
  mutable std::once_flag is_fast_;
  mutable std::once_flag is_watched_;
  mutable Code watched_;  // guarded by is_watched_
  mutable std::atomic<size_t> machine_bytes_{0};
};

}  // namespace gridmount::query
