// Names of threads, as `top -H`, `ps -L` and debuggers show them. ARCHITECTURE.md, "Threads", lists
// them.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

namespace gridmount {

// What the kernel keeps of a name.
inline constexpr std::string_view::size_type kThreadNameBytesMax = 15;

// Names the calling thread; the threads that it starts from then on begin with that name. Only the
// first kThreadNameBytesMax bytes count. Does nothing on the process's first thread, whose name is
// the program's.
void name_this_thread(std::string_view name);

}  // namespace gridmount
