// The name of the Unix socket on which the owner of a store in a folder answers.
//
// Thread-safety: a constant.
#pragma once

namespace gridmount::wire {

inline constexpr const char* kSocketName = "gridmount.sock";

}  // namespace gridmount::wire
