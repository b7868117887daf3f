// Appends counts and sizes with the type that servers use: int32 if the value fits, otherwise
// int64. Shells show an int32 as a plain number, and JavaScript programs can calculate with it.
//
// Thread-safety: that of the Builder.
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
