// A regular expression that PCRE2 has compiled. Each match ends in bounded time, or when its thread
// is interrupted. regex.h describes the syntax, the options and the results. Internal to
// engine/query.
//
// PCRE2 applies its backtracking limit to each start position separately. Machine code (JIT) counts
// only some of the backtracking, and another thread cannot end a running match. So a pattern has
// two compiled forms:
// - plain: For patterns without loops over groups. Each call of PCRE2 tries a limited number of
//   start positions, with a backtracking limit so low that the call takes about a hundredth of a
//   second.
// - watched: For all other patterns, for a match that exceeds the limit of the plain form, and for
//   a text that is too long for the plain form. The watched form is compiled when it is first used.
//   PCRE2 calls our callback before each item of the pattern, and reads the text no more than once
//   between two callbacks.
//
// Thread-safe.
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

class BoundedRegex {
 public:
  // `flags` are options of pcre2_compile(). For an invalid pattern, returns null and sets `error`
  // to PCRE2's error number and `offset` to the offset of the error in the pattern.
  static std::unique_ptr<BoundedRegex> compile(std::string pattern, uint32_t flags, int& error,
                                               size_t& offset);

  ~BoundedRegex();
  BoundedRegex(const BoundedRegex&) = delete;
  BoundedRegex& operator=(const BoundedRegex&) = delete;

  // Returns what pcre2_match() returns for the first match at or after `from`: the number of pairs
  // set in `found`, PCRE2_ERROR_NOMATCH, or the error that ended the match. Fails if the
  // interruption of this thread (interruption.h) ends the match.
  Result<int> match(std::string_view text, size_t from, pcre2_match_data* found) const;

  const pcre2_code* plain() const { return plain_.get(); }
  // Returns about how many bytes of memory the expression uses, without the watched form and
  // machine code.
  size_t bytes() const;

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  using Code = std::unique_ptr<pcre2_code, Free>;

  BoundedRegex(std::string pattern, uint32_t flags, Code plain);

  // Compiles `code` to machine code, unless the machine code of all patterns together is already
  // too large.
  void speed_up(pcre2_code* code) const;

  Result<int> match_watched(std::string_view text, size_t from, pcre2_match_data* found) const;
  const pcre2_code* watched() const;

  const std::string pattern_;
  const uint32_t flags_;
  const Code plain_;
  // The pattern has loops over groups, or other items whose cost the limit does not count. The
  // watched form must then be used.
  bool has_group_loops_ = false;
  // A match may read the text to its end from each start position.
  bool has_loops_ = false;
  // A match can begin only at one position.
  bool is_anchored_ = false;
  mutable std::once_flag is_fast_;
  mutable std::once_flag is_watched_;
  mutable Code watched_;  // guarded by is_watched_
  mutable std::atomic<size_t> machine_bytes_{0};
};

}  // namespace gridmount::query
