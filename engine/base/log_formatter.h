// Formats spdlog's messages so that each one is a single line, whatever the message holds
// (log_text.h).
//
// Thread-safety: not thread-safe. Each formatter belongs to one sink, which calls it from one
// thread at a time.
#pragma once

#include <spdlog/pattern_formatter.h>

#include <memory>
#include <string>

#include "engine/base/log_text.h"

namespace gridmount {

// The pattern flag "%*", which stands for the message as log_text() escapes it.
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

// Makes the argument of spdlog::logger::set_formatter(). `lead` is spdlog's pattern for the text
// before each message.
inline std::unique_ptr<spdlog::formatter> log_formatter(const std::string& lead) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LogTextFlag>('*').set_pattern(lead + "%*");
  return formatter;
}

}  // namespace gridmount
