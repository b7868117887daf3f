// Counts and sizes as servers tell them: int32 where it fits, which shells show as a plain number
// and programs in JavaScript can calculate with, int64 beyond.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/bson/builder.h"

namespace gridmount::bson {

inline Builder& append_count(Builder& out, std::string_view key, int64_t value) {
  const auto small = static_cast<int32_t>(value);
  return small == value ? out.append(key, small) : out.append(key, value);
}

}  // namespace gridmount::bson
