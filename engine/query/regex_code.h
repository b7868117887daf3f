// What PCRE2 makes of a pattern, and matching with it in bounded time. Internal to this folder.
//
// PCRE2 counts backtracking for each place where a match may begin, its compiled code only some of
// it, and nobody can end it from outside. So there are two forms of a pattern:
//   plain    Matches what little can be taken for quick: of patterns without loops over groups, a
//            stretch of places at a time, with so low a limit of backtracking that a stretch takes
//            a hundredth of a second or so.
//   watched  Calls back before each item of the pattern: between two calls it goes through the text
//            at most once. Matches all the rest, and is made when it is first needed.
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
class RegexCode {
 public:
  // `flags` are PCRE2's. Null, with PCRE2's number of the error and its place, for no pattern.
  static std::unique_ptr<RegexCode> compile(std::string pattern, uint32_t flags, int& error,
                                            size_t& offset);

  ~RegexCode();
  RegexCode(const RegexCode&) = delete;
  RegexCode& operator=(const RegexCode&) = delete;

  // What pcre2_match() gives for the first match at `from` or behind it: how many pairs of `found`
  // are set, PCRE2_ERROR_NOMATCH, or the number of the error that it was given up with. Fails if
  // the interruption says so.
  Result<int> match(std::string_view text, size_t from, pcre2_match_data* found) const;

  const pcre2_code* plain() const { return plain_.get(); }
  // Of memory, about.
  size_t bytes() const;

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  using Code = std::unique_ptr<pcre2_code, Free>;

  RegexCode(std::string pattern, uint32_t flags, Code plain);

  // Makes machine code of it, if there is room for more.
  void speed_up(pcre2_code* code) const;

  Result<int> match_watched(std::string_view text, size_t from, pcre2_match_data* found) const;
  const pcre2_code* watched() const;

  const std::string pattern_;
  const uint32_t flags_;
  const Code plain_;
  // How plain code may be used.
  bool has_group_loops_ = false;  // or what else its limit does not count: not at all
  bool has_loops_ = false;        // from each place it may read the text to its end
  bool is_anchored_ = false;      // begins at one place only
  mutable std::once_flag is_fast_;
  mutable std::once_flag is_watched_;
  mutable Code watched_;  // set by is_watched_
  mutable std::atomic<size_t> machine_bytes_{0};
};

}  // namespace gridmount::query
