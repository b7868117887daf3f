// Where a regular expression matches, and what its groups took.

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "engine/query/regex.h"

namespace gridmount::query {
namespace {

constexpr ErrorCode kMatchingFailed{51156};

// As for Regex::matches().
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kHeapLimitKib = 20'000;

struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

std::unique_ptr<pcre2_match_context, FreeContext> make_context() {
  std::unique_ptr<pcre2_match_context, FreeContext> context(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);
  return context;
}

}  // namespace

Result<Regex::Captures> Regex::find(std::string_view text, size_t from) const {
  thread_local const std::unique_ptr<pcre2_match_context, FreeContext> context = make_context();
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create_from_pattern(code, nullptr));
  const auto match = [&](uint32_t options) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, options,
                       data.get(), context.get());
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return Captures();
  if (result < 0) {
    unsigned char message[256];
    pcre2_get_error_message(result, message, sizeof message);
    return fail(kMatchingFailed, reinterpret_cast<const char*>(message));
  }
  const size_t* const offsets = pcre2_get_ovector_pointer(data.get());
  Captures captures;
  for (uint32_t i = 0; i < pcre2_get_ovector_count(data.get()); ++i) {
    const size_t begin = offsets[2 * i];
    // A group behind the last that took part is not set at all.
    if (static_cast<int>(i) >= result || begin == PCRE2_UNSET) {
      captures.emplace_back();
    } else {
      captures.push_back(Range{begin, std::max(begin, offsets[2 * i + 1])});
    }
  }
  return captures;
}

}  // namespace gridmount::query
