// A database whose operations the profiler is told of, one by one, so that tests see it at work
// without a server, which tells it of commands.
#pragma once

#include <memory>
#include <string_view>

#include "engine/profiling/profiler.h"
#include "engine/store.h"

namespace gridmount::profiling {

// The database as it is, its collections' reads and writes measured. A find is one operation from
// its begin to the end of its cursor, without the time the reader takes between documents. The
// profiler outlives it and its cursors.
std::shared_ptr<engine::Database> profiled(std::shared_ptr<engine::Database> database,
                                           Profiler& profiler);

}  // namespace gridmount::profiling
