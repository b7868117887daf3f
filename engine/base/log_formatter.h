// spdlog's lines, one for each message, whatever is in it.
//
// Thread-safety: as spdlog's formatters, each belongs to one sink.
#pragma once

#include <spdlog/pattern_formatter.h>

#include <memory>
#include <string>

#include "engine/base/log_text.h"

namespace gridmount {

// The message itself, in a pattern "%*".
class LogTextFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = log_text({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LogTextFlag>();
  }
};

// For spdlog::logger::set_formatter(); `lead` is what stands before each message, as a pattern.
inline std::unique_ptr<spdlog::formatter> log_formatter(const std::string& lead) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LogTextFlag>('*').set_pattern(lead + "%*");
  return formatter;
}

}  // namespace gridmount
