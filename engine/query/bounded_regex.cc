#include "engine/query/bounded_regex.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include "engine/query/interruption.h"

namespace gridmount::query {
namespace {

// Limits for one call of PCRE2: the backtracking of the watched form, the memory of the
// interpreter, and the stack of machine code.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kHeapLimitKib = 20'000;
constexpr size_t kStackBytesFirst = size_t{32} << 10;
constexpr size_t kStackBytesMax = size_t{1} << 20;
// The limit of processor time for one match, over all its start positions.
constexpr int64_t kProcessorNanosecondsMax = 2'000'000'000;

// For the plain form: the limit of backtracking from one start position, and the number of steps
// (characters read) in one stretch of start positions.
constexpr uint32_t kPlainMatchLimit = 512;
constexpr size_t kPlainStepsMax = size_t{1} << 24;
// For the watched form: the number of steps between two checks of the interruption.
constexpr size_t kWatchedStepsMax = size_t{1} << 21;
constexpr size_t kCallsPerLookMax = 4096;
// The least time between two checks of the interruption.
constexpr auto kTimeBetweenLooks = std::chrono::milliseconds(1);

// The limit for the machine code of all patterns together. A filter may have a hundred thousand
// patterns.
constexpr size_t kMachineBytesMax = size_t{64} << 20;
std::atomic<size_t> machine_bytes_of_all{0};

int64_t processor_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Decides whether a running match may go on.
class Watch {
 public:
  explicit Watch(size_t calls_per_look)
      : calls_per_look_(calls_per_look),
        left_(calls_per_look),
        looked_at_(std::chrono::steady_clock::now()) {}

  // PCRE2 calls this function.
  static int call(pcre2_callout_block*, void* watch) {
    auto* const self = static_cast<Watch*>(watch);
    if (--self->left_ != 0) return 0;
    self->left_ = self->calls_per_look_;
    return self->look();
  }

  // Returns 0, or the error with which the match must end.
  int look() {
    const auto time = std::chrono::steady_clock::now();
    if (time - looked_at_ < kTimeBetweenLooks) return 0;
    looked_at_ = time;
    if (Status asked = check_interruption_now(); !asked) {
      interrupted_ = std::move(asked).error();
      return PCRE2_ERROR_CALLOUT;
    }
    const int64_t now = processor_nanoseconds();
    if (!begin_) begin_ = now;
    return now - *begin_ > kProcessorNanosecondsMax ? PCRE2_ERROR_MATCHLIMIT : 0;
  }

  std::optional<Error>& interrupted() { return interrupted_; }

 private:
  const size_t calls_per_look_;
  size_t left_;
  std::chrono::steady_clock::time_point looked_at_;
  std::optional<int64_t> begin_;  // processor time at the first check
  std::optional<Error> interrupted_;
};

// PCRE2's context and stack, one per thread.
class Pcre2Context {
 public:
  Pcre2Context()
      : context_(pcre2_match_context_create(nullptr)),
        stack_(pcre2_jit_stack_create(kStackBytesFirst, kStackBytesMax, nullptr)) {
    pcre2_set_heap_limit(context_, kHeapLimitKib);
    if (stack_ != nullptr) pcre2_jit_stack_assign(context_, nullptr, stack_);
  }
  ~Pcre2Context() {
    pcre2_jit_stack_free(stack_);
    pcre2_match_context_free(context_);
  }
  Pcre2Context(const Pcre2Context&) = delete;
  Pcre2Context& operator=(const Pcre2Context&) = delete;

  pcre2_match_context* get() { return context_; }

 private:
  pcre2_match_context* const context_;
  pcre2_jit_stack* const stack_;
};

int run(const pcre2_code* code, std::string_view text, size_t from, pcre2_match_data* found,
        pcre2_match_context* context) {
  const auto match = [&](uint32_t options) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, options,
                       found, context);
  };
  const int result = match(0);
  // Machine code has run out of its stack. The interpreter uses the heap.
  return result == PCRE2_ERROR_JIT_STACKLIMIT ? match(PCRE2_NO_JIT) : result;
}

// Returns whether the text of the pattern holds one of the parts. A part in a character class or
// after a backslash counts too, although it means something else there.
bool has_any(std::string_view pattern, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return pattern.find(part) != std::string_view::npos;
  });
}

// Returns whether the pattern has loops over groups, possessive or atomic items, subroutines,
// conditions, references to groups, or \G (which depends on where matching begins). May return true
// for other patterns too.
bool has_group_loops(std::string_view pattern, uint32_t flags) {
  if ((flags & PCRE2_EXTENDED) != 0) return true;
  if (has_any(pattern, {")*", ")+", "){", "*+", "++", "?+", "}+", "(*"})) return true;
  for (size_t at = 0; (at = pattern.find("(?", at)) != std::string_view::npos; ++at) {
    const std::string_view behind = pattern.substr(at + 2);
    if (!behind.starts_with(":") && !behind.starts_with("i)")) return true;
  }
  for (size_t at = 0; (at = pattern.find('\\', at)) != std::string_view::npos; at += 2) {
    if (at + 1 == pattern.size()) break;
    if (std::string_view("0123456789gGkKQEXRC").find(pattern[at + 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

BoundedRegex::BoundedRegex(std::string pattern, uint32_t flags, Code plain)
    : pattern_(std::move(pattern)), flags_(flags), plain_(std::move(plain)) {
  has_group_loops_ = has_group_loops(pattern_, flags_);
  has_loops_ = has_any(pattern_, {"*", "+", "{"});
  uint32_t options = 0;
  pcre2_pattern_info(plain_.get(), PCRE2_INFO_ALLOPTIONS, &options);
  is_anchored_ = (options & PCRE2_ANCHORED) != 0;
}

std::unique_ptr<BoundedRegex> BoundedRegex::compile(std::string pattern, uint32_t flags, int& error,
                                                    size_t& offset) {
  Code plain(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                           flags | PCRE2_USE_OFFSET_LIMIT, &error, &offset, nullptr));
  if (!plain) return nullptr;
  return std::unique_ptr<BoundedRegex>(
      new BoundedRegex(std::move(pattern), flags, std::move(plain)));
}

size_t BoundedRegex::bytes() const {
  size_t code = 0;
  pcre2_pattern_info(plain_.get(), PCRE2_INFO_SIZE, &code);
  return sizeof(BoundedRegex) + pattern_.size() + code;
}

BoundedRegex::~BoundedRegex() {
  machine_bytes_of_all -= machine_bytes_;
}

void BoundedRegex::speed_up(pcre2_code* code) const {
  if (machine_bytes_of_all >= kMachineBytesMax) return;
  // Without machine code (on a system that forbids executable memory) matching is slower, not
  // wrong.
  if (pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) != 0) return;
  size_t bytes = 0;
  pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &bytes);
  machine_bytes_ += bytes;
  machine_bytes_of_all += bytes;
}

const pcre2_code* BoundedRegex::watched() const {
  std::call_once(is_watched_, [&] {
    int error = 0;
    size_t offset = 0;
    watched_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()), pattern_.size(),
                                 flags_ | PCRE2_AUTO_CALLOUT, &error, &offset, nullptr));
    if (watched_) speed_up(watched_.get());
  });
  return watched_.get();
}

Result<int> BoundedRegex::match_watched(std::string_view text, size_t from,
                                        pcre2_match_data* found) const {
  thread_local Pcre2Context context;
  const pcre2_code* const code = watched();
  // With callouts, the pattern exceeds PCRE2's size limit.
  if (code == nullptr) return PCRE2_ERROR_MATCHLIMIT;
  Watch watch(std::clamp<size_t>(kWatchedStepsMax / (text.size() - from + 1), 1, kCallsPerLookMax));
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_callout(context.get(), Watch::call, &watch);
  const int result = run(code, text, from, found, context.get());
  if (watch.interrupted()) return fail(*std::move(watch.interrupted()));
  return result;
}

Result<int> BoundedRegex::match(std::string_view text, size_t from, pcre2_match_data* found) const {
  // The steps from one start position, for each unit of counted backtracking.
  const size_t steps = pattern_.size() + 1 + (has_loops_ ? text.size() - from : 0);
  const size_t stretch = kPlainStepsMax / kPlainMatchLimit / steps;
  if (has_group_loops_ || stretch == 0) return match_watched(text, from, found);
  std::call_once(is_fast_, [&] { speed_up(plain_.get()); });
  thread_local Pcre2Context context;
  pcre2_set_match_limit(context.get(), kPlainMatchLimit);
  Watch watch(1);
  while (true) {
    size_t end = text.size();  // the last start position of the stretch
    if (!is_anchored_ && end - from >= stretch) {
      end = from + stretch - 1;
      // A stretch must not end within a character.
      while (end + 1 < text.size() && (static_cast<uint8_t>(text[end + 1]) & 0xC0) == 0x80) ++end;
    }
    pcre2_set_offset_limit(context.get(), end);
    const int result = run(plain_.get(), text, from, found, context.get());
    if (result == PCRE2_ERROR_MATCHLIMIT) return match_watched(text, from, found);
    if (result != PCRE2_ERROR_NOMATCH || end >= text.size()) return result;
    from = end + 1;
    if (const int ended = watch.look(); ended != 0) {
      if (watch.interrupted()) return fail(*std::move(watch.interrupted()));
      return ended;
    }
  }
}

}  // namespace gridmount::query
