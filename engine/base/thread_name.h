// Names of threads, as `top -H`, `ps -L` and debuggers show them. ARCHITECTURE.md, "Threads", lists
// them.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

namespace gridmount {

// The kernel keeps this many bytes of a name.
inline constexpr std::string_view::size_type kThreadNameBytesMax = 15;

// Names the calling thread. Threads that the calling thread starts from then on inherit the name.
// Uses only the first kThreadNameBytesMax bytes. Does nothing on the first thread of the process,
// because that thread's name is also the name of the process.
void name_this_thread(std::string_view name);

}  // namespace gridmount
