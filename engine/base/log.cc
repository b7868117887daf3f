#include "engine/base/log.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <string>

namespace gridmount::log {

namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kCritical:
      return spdlog::level::critical;
  }
  return spdlog::level::critical;
}

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args arguments) noexcept {
  try {
    spdlog::logger* logger = spdlog::default_logger_raw();
    if (!logger->should_log(spdlog_level(level))) return;
    std::string message;
    try {
      message = fmt::vformat(format, arguments);
    } catch (const std::exception& error) {
      message = "a message could not be formatted: " + std::string(error.what());
    }
    logger->log(spdlog_level(level), message);
  } catch (...) {  // The message is lost, and the caller continues.
  }
}

void flush() noexcept {
  try {
    spdlog::default_logger_raw()->flush();
  } catch (...) {  // The caller continues, because nobody can receive the error.
  }
}

}  // namespace gridmount::log
