#include "engine/query/regex.h"

#include <algorithm>

#include "engine/bson/text.h"
#include "engine/query/bounded_regex.h"

namespace gridmount::query {
namespace {

constexpr ErrorCode kInvalidRegex{51091};

struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
using MatchData = std::unique_ptr<pcre2_match_data, FreeData>;

std::string text_of_error(int error) {
  unsigned char message[256];
  pcre2_get_error_message(error, message, sizeof message);
  return reinterpret_cast<const char*>(message);
}

std::string numbered_text_of_error(int error) {
  return std::to_string(error) + " (" + text_of_error(error) + ")";
}

bool is_quantifier(char c) {
  return c == '*' || c == '?' || c == '{';
}

std::string prefix_of(std::string_view pattern, std::string_view options) {
  if (options.find_first_of("imx") != std::string_view::npos) return {};
  // The alternatives need not begin with the same text.
  if (pattern.find('|') != std::string_view::npos) return {};
  if (pattern.starts_with("^")) {
    pattern.remove_prefix(1);
  } else if (pattern.starts_with("\\A")) {
    pattern.remove_prefix(2);
  } else {
    return {};
  }
  std::string prefix;
  while (!pattern.empty()) {
    char c = pattern[0];
    size_t size = 1;
    if (c == '\\') {
      // A backslash before punctuation makes it literal. Before a letter or digit it makes a class
      // or a reference.
      if (pattern.size() < 2 || isalnum(static_cast<unsigned char>(pattern[1])) != 0 ||
          static_cast<unsigned char>(pattern[1]) >= 0x80) {
        break;
      }
      c = pattern[1];
      size = 2;
    } else if (std::string_view("^$.[]()*+?{}").find(c) != std::string_view::npos) {
      break;
    }
    if (pattern.size() > size && is_quantifier(pattern[size])) {
      // The character may be optional, so the prefix ends before it. If the character has several
      // bytes, its bytes in the prefix are removed. This may also remove the multi-byte characters
      // before it, which only shortens the prefix.
      while (static_cast<unsigned char>(c) >= 0x80 && !prefix.empty() &&
             static_cast<unsigned char>(prefix.back()) >= 0x80) {
        prefix.pop_back();
      }
      break;
    }
    prefix.push_back(c);
    pattern.remove_prefix(size);
  }
  return prefix;
}

}  // namespace

Regex::Regex() = default;
Regex::~Regex() = default;
Regex::Regex(Regex&& other) noexcept = default;
Regex& Regex::operator=(Regex&& other) noexcept = default;

size_t Regex::bytes() const {
  return pattern_.size() + options_.size() + literal_prefix_.size() + code_->bytes();
}

Result<Regex> Regex::compile(std::string_view pattern, std::string_view options) {
  uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  for (size_t i = 0; i < options.size(); ++i) {
    switch (options[i]) {
      case 'i':
        flags |= PCRE2_CASELESS;
        break;
      case 'm':
        flags |= PCRE2_MULTILINE;
        break;
      case 's':
        flags |= PCRE2_DOTALL;
        break;
      case 'x':
        flags |= PCRE2_EXTENDED;
        break;
      case 'u':
        break;
      default:
        return fail(kInvalidRegexOption, "invalid flag in regex options: " +
                                             std::string(bson::character_at(options, i)));
    }
  }
  int error = 0;
  size_t offset = 0;
  std::unique_ptr<BoundedRegex> code =
      BoundedRegex::compile(std::string(pattern), flags, error, offset);
  if (!code) {
    return fail(kInvalidRegex, "Regular expression is invalid: " + text_of_error(error) +
                                   ", at byte " + std::to_string(offset));
  }
  Regex regex;
  regex.code_ = std::move(code);
  regex.pattern_ = pattern;
  regex.options_ = options;
  regex.literal_prefix_ = prefix_of(pattern, options);
  return regex;
}

Result<bool> Regex::try_match(std::string_view text) const {
  // The positions of the match are not needed, so room for one range is enough.
  thread_local const MatchData found(pcre2_match_data_create(1, nullptr));
  GM_ASSIGN(const int result, code_->match(text, 0, found.get()));
  if (result >= 0) return true;
  if (result == PCRE2_ERROR_NOMATCH) return false;
  return fail(kRegexGivenUp,
              "Error occurred while executing the regular expression in $regex. Result code: " +
                  numbered_text_of_error(result));
}

Result<Regex::Captures> Regex::find(std::string_view text, size_t from) const {
  const MatchData found(pcre2_match_data_create_from_pattern(code_->plain(), nullptr));
  GM_ASSIGN(const int result, code_->match(text, from, found.get()));
  if (result == PCRE2_ERROR_NOMATCH) return Captures();
  if (result < 0) return fail(kRegexGivenUp, numbered_text_of_error(result));
  const size_t* const offsets = pcre2_get_ovector_pointer(found.get());
  Captures captures;
  for (uint32_t i = 0; i < pcre2_get_ovector_count(found.get()); ++i) {
    const size_t begin = offsets[2 * i];
    // PCRE2 sets no range for groups after the last one that took part.
    if (static_cast<int>(i) >= result || begin == PCRE2_UNSET) {
      captures.emplace_back();
    } else {
      captures.push_back(CaptureRange{begin, std::max(begin, offsets[2 * i + 1])});
    }
  }
  return captures;
}

}  // namespace gridmount::query
