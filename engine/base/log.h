// Writes messages to the log of the process, which is spdlog's default logger. A program sets that
// logger once when it starts (fuse/daemon/log.h, tools/library_log.h,
// tools/gridstore/serve_command.h).
//
// A source that calls spdlog's functions compiles the whole formatter. The functions of this header
// format in log.cc alone, so a source that calls them compiles three seconds faster.
//
// Thread-safety: all functions are thread-safe.
#pragma once

#include <fmt/core.h>

#include <utility>

namespace gridmount::log {

enum class Level { kDebug, kInfo, kWarn, kError, kCritical };

// Formats the message only if the log keeps messages of this level. Never throws. If the message
// cannot be formatted, writes a line about this failure instead. If that line cannot be written
// either, for example for lack of memory, writes nothing.
void write(Level level, fmt::string_view format, fmt::format_args arguments) noexcept;

// Writes all buffered messages to the file, the terminal or syslog. Never throws.
void flush() noexcept;

// The compiler checks the format string against the arguments. Format strings have the syntax of
// fmt.
template <typename... Arguments>
void debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::kDebug, format, fmt::make_format_args(arguments...));
}
template <typename... Arguments>
void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::kInfo, format, fmt::make_format_args(arguments...));
}
template <typename... Arguments>
void warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::kWarn, format, fmt::make_format_args(arguments...));
}
template <typename... Arguments>
void error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::kError, format, fmt::make_format_args(arguments...));
}
template <typename... Arguments>
void critical(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::kCritical, format, fmt::make_format_args(arguments...));
}

}  // namespace gridmount::log
