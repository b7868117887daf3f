#include "engine/wire/server/process_end.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <thread>

#include "engine/base/thread_name.h"

namespace gridmount::wire {

void end_process_within(std::chrono::milliseconds patience, int status) {
  std::thread([patience, status] {
    name_this_thread("gm-end");
    std::this_thread::sleep_for(patience);
    spdlog::error("waited {} ms for a running command; ending at once", patience.count());
    spdlog::default_logger()->flush();
    _exit(status);
  }).detach();
}

}  // namespace gridmount::wire
