// Assertions of the numbered invariants that headers and engine/local/FORMAT.md state (D, W, S, K,
// F, V). If a comparison can show that an invariant is broken, the code that upholds the invariant
// asserts it. If an invariant does not hold, the program has a bug, and could destroy stored data
// if it continued. So the assertion aborts the process. For the store, this abort is the same as a
// kill, which loses no committed data. Code must not assert data from disks, from the wire or from
// users: it must check the data and return an error.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

namespace gridmount {

// Logs the invariant, the condition, the object and the source line, and aborts the process.
[[noreturn]] void invariant_broken(std::string_view rule, std::string_view condition,
                                   std::string_view object, const char* file, int line) noexcept;

}  // namespace gridmount

// Asserts the condition, also in release builds. So the condition must not cost more than a
// comparison. `rule` is the number of the invariant, for example "D3". `object` is a text that
// names the object of the condition. The macro evaluates `object` only if the condition does not
// hold.
#define GM_INVARIANT(rule, condition, object)                                          \
  do {                                                                                 \
    if (!(condition)) [[unlikely]] {                                                   \
      ::gridmount::invariant_broken((rule), #condition, (object), __FILE__, __LINE__); \
    }                                                                                  \
  } while (false)

// Like GM_INVARIANT, for conditions that cost more than a comparison. Only builds without NDEBUG,
// such as the builds with sanitizers, evaluate these conditions.
#ifdef NDEBUG
#define GM_COSTLY_INVARIANT(rule, condition, object) \
  do {                                               \
    (void)sizeof(static_cast<bool>(condition));      \
  } while (false)
#else
#define GM_COSTLY_INVARIANT(rule, condition, object) GM_INVARIANT(rule, condition, object)
#endif
