// Unwraps results of the store. An error ends the run with an exception.
#pragma once

#include <stdexcept>
#include <utility>

#include "engine/base/error.h"

namespace gridmount::bench {

[[noreturn]] inline void fail_run(const Error& error) {
  throw std::runtime_error("gridmount: " + error.message());
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) fail_run(result.error());
  return std::move(result).value();
}

inline void check(const Status& status) {
  if (!status) fail_run(status.error());
}

}  // namespace gridmount::bench
