#include "fuse/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

namespace gridmount::fuse {

Status set_up_log(const Options& options) {
  spdlog::sink_ptr sink;
  std::string pattern = "%Y-%m-%dT%H:%M:%S.%e %l: %v";
  if (options.log_file) {
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.log_file->string());
    } catch (const spdlog::spdlog_ex& error) {
      return fail(ErrorCode::kBadValue, "--log-file: " + std::string(error.what()));
    }
  } else if (options.foreground) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    pattern = "gridmount: %l: %v";
  } else {
    sink = std::make_shared<spdlog::sinks::syslog_sink_mt>("gridmount", LOG_PID, LOG_DAEMON, true);
    pattern = "%v";
  }
  auto logger = std::make_shared<spdlog::logger>("gridmount", std::move(sink));
  logger->set_pattern(pattern);
  logger->set_level(spdlog::level::from_str(options.log_level));
  // A line is there for whoever looks after a crash.
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace gridmount::fuse
