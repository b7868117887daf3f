// What the system is told of the process's memory.
#pragma once

#include <cstddef>

namespace gridmount::system {

// Asks the disk for the pages that hold these mapped bytes, without waiting for them.
void will_need(const void* begin, size_t bytes);

// Sets the process's malloc up for LMDB, which mallocs every dirty page and run of pages: blocks up
// to 8 MiB come from the heap and stay there, in few heaps, as each may keep 64 MiB. Larger ones
// are given back when they are freed. For programs to call once, before they start threads; it is
// worth 20-30 % of writing speed.
void tune_allocator();

}  // namespace gridmount::system
