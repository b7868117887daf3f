#include "engine/base/invariant.h"

#include <spdlog/spdlog.h>

#include <cstdlib>

namespace gridmount {

void invariant_broken(std::string_view rule, std::string_view condition, std::string_view object,
                      const char* file, int line) noexcept {
  try {
    spdlog::critical("invariant {} does not hold for {}: {} ({}:{}); the process ends", rule,
                     object, condition, file, line);
    spdlog::default_logger_raw()->flush();
  } catch (...) {  // The process ends, with or without the message.
  }
  std::abort();
}

}  // namespace gridmount
