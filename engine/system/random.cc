#include "engine/system/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>

#include "engine/system/system_error.h"

namespace gridmount::system {

Result<RandomId> random_id() {
  RandomId id{};
  size_t done = 0;
  while (done < id.size()) {
    const ssize_t count = ::getrandom(id.data() + done, id.size() - done, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "drawing a random number"));
    done += static_cast<size_t>(count);
  }
  return id;
}

}  // namespace gridmount::system
