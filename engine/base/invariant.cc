#include "engine/base/invariant.h"

#include <cstdlib>

#include "engine/base/log.h"

namespace gridmount {

void invariant_broken(std::string_view rule, std::string_view condition, std::string_view object,
                      const char* file, int line) noexcept {
  log::critical("invariant {} does not hold for {}: {} ({}:{}); the process ends", rule, object,
                condition, file, line);
  log::flush();
  std::abort();
}

}  // namespace gridmount
