// Unwraps, in tests, the result of a call that must not fail.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "engine/base/error.h"

namespace gridmount {

// Returns the value of `result`. If it is an error, throws std::runtime_error with its message,
// which ends the test.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace gridmount
