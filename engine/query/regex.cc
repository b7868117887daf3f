#include "engine/query/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "engine/bson/text.h"

namespace gridmount::query {
namespace {

// Backtracking steps and memory of one attempt; PCRE2's own limits would let one document stand for
// seconds.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kHeapLimitKib = 20'000;

constexpr ErrorCode kInvalidRegex{51091};
constexpr ErrorCode kInvalidRegexOption{51108};
constexpr ErrorCode kRegexGivenUp{51156};

// What one thread needs for matching: whether it matches is all that is asked.
class MatchState {
 public:
  MatchState()
      : data_(pcre2_match_data_create(1, nullptr)), context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context_, kMatchLimit);
    pcre2_set_heap_limit(context_, kHeapLimitKib);
  }
  ~MatchState() {
    pcre2_match_data_free(data_);
    pcre2_match_context_free(context_);
  }
  MatchState(const MatchState&) = delete;
  MatchState& operator=(const MatchState&) = delete;

  pcre2_match_data* data() { return data_; }
  pcre2_match_context* context() { return context_; }

 private:
  pcre2_match_data* data_;
  pcre2_match_context* context_;
};

bool is_quantifier(char c) {
  return c == '*' || c == '?' || c == '{';
}

std::string prefix_of(std::string_view pattern, std::string_view options) {
  if (options.find_first_of("imx") != std::string_view::npos) return {};
  // An alternative need not begin like the first.
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
      // Escaped punctuation is itself; letters and digits are classes and references.
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
      // It may be absent. Of a character of several bytes, so may those that stand before.
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

void Regex::Free::operator()(void* code) const {
  pcre2_code_free(static_cast<pcre2_code*>(code));
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
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                                         pattern.size(), flags, &error, &offset, nullptr);
  if (code == nullptr) {
    unsigned char message[256];
    pcre2_get_error_message(error, message, sizeof message);
    return fail(kInvalidRegex, "Regular expression is invalid: " +
                                   std::string(reinterpret_cast<const char*>(message)) +
                                   ", at byte " + std::to_string(offset));
  }
  Regex regex;
  regex.code_.reset(code);
  // Without it (a system that forbids executable memory) matching is slower, not wrong.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  regex.pattern_ = pattern;
  regex.options_ = options;
  regex.literal_prefix_ = prefix_of(pattern, options);
  return regex;
}

Result<bool> Regex::try_match(std::string_view text) const {
  thread_local MatchState state;
  const auto match = [&](uint32_t options) {
    return pcre2_match(static_cast<const pcre2_code*>(code_.get()),
                       reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, options,
                       state.data(), state.context());
  };
  int result = match(0);
  // Compiled code has 32 KiB of stack, which is little for (a|b)* on a long text; the interpreter
  // has the heap.
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result >= 0) return true;
  if (result == PCRE2_ERROR_NOMATCH) return false;
  unsigned char message[256];
  pcre2_get_error_message(result, message, sizeof message);
  return fail(kRegexGivenUp,
              "Error occurred while executing the regular expression in $regex. Result code: " +
                  std::to_string(result) + " (" +
                  std::string(reinterpret_cast<const char*>(message)) + ")");
}

}  // namespace gridmount::query
