#include "engine/wire/server/process_end.h"

#include <unistd.h>

#include <thread>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"

namespace gridmount::wire {

void end_process_within(std::chrono::milliseconds patience, int status) {
  std::thread([patience, status] {
    name_this_thread("gm-end");
    std::this_thread::sleep_for(patience);
    log::error("waited {} ms for a running command; ending at once", patience.count());
    log::flush();
    _exit(status);
  }).detach();
}

}  // namespace gridmount::wire
