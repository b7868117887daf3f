// Assertions of the numbered invariants that headers and engine/local/FORMAT.md state (D, W, S, K,
// F, V). The code asserts an invariant where it upholds it. If an invariant does not hold, this
// program has a bug, and going on could destroy stored data. So the process aborts, which every
// store survives as it survives a kill. What comes from disks, from the wire or from users is never
// asserted, but checked and reported.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

namespace gridmount {

// Logs which invariant does not hold, of which object and where, and aborts the process.
[[noreturn]] void invariant_broken(std::string_view rule, std::string_view condition,
                                   std::string_view object, const char* file, int line) noexcept;

}  // namespace gridmount

// Asserts the condition, in release builds too, so the condition must cost no more than a
// comparison. `rule` is the number of the invariant, for example "D3". `object` is a text that says
// what the condition is about. It is evaluated only if the condition does not hold.
#define GM_INVARIANT(rule, condition, object)                                          \
  do {                                                                                 \
    if (!(condition)) [[unlikely]] {                                                   \
      ::gridmount::invariant_broken((rule), #condition, (object), __FILE__, __LINE__); \
    }                                                                                  \
  } while (false)

// Like GM_INVARIANT, for conditions that cost more. Asserts them only in builds without NDEBUG,
// such as those with sanitizers.
#ifdef NDEBUG
#define GM_COSTLY_INVARIANT(rule, condition, object) \
  do {                                               \
    (void)sizeof(static_cast<bool>(condition));      \
  } while (false)
#else
#define GM_COSTLY_INVARIANT(rule, condition, object) GM_INVARIANT(rule, condition, object)
#endif
