// kSanitized is true if the tests run under AddressSanitizer or ThreadSanitizer, which need memory
// and address space of their own. kThreadSanitized is true under ThreadSanitizer. Long tests that
// make one call after another are skipped there, because shorter tests run the same threads.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GM_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GM_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GM_TEST_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GM_TEST_THREAD_SANITIZED 1
#endif
#endif

namespace gridmount {

#ifdef GM_TEST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

#ifdef GM_TEST_THREAD_SANITIZED
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

// Scales the number of rounds of a random comparison, or the number of results that the rounds must
// give. Under a sanitizer, where each round takes several times as long, returns a quarter of
// `all`. Other builds run all rounds.
template <typename Count>
constexpr Count random_rounds(Count all) {
  return kSanitized ? all / 4 : all;
}

}  // namespace gridmount
