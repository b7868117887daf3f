// The name of the Unix socket in a store's folder, on which the owner of the store answers.
//
// Thread-safety: a constant.
#pragma once

namespace gridmount::wire {

inline constexpr const char* kSocketName = "gridmount.sock";

}  // namespace gridmount::wire
