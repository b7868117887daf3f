// Captures what the engine logs.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>

namespace gridmount {

// Returns what is logged while `work` runs, by all threads of the process: "warning: TEXT\n" for
// each message.
inline std::string logged_by(const std::function<void()>& work) {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  spdlog::default_logger()->set_pattern("%l: %v");
  work();
  spdlog::set_default_logger(before);
  return text.str();
}

}  // namespace gridmount
