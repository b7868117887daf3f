// Goal: the functions of engine/base/log.h write each message with its level to spdlog's default
// logger, if the level is high enough. The reason replaces a message that cannot be formatted.
// Method: a logger of the test that keeps its lines.
#include "engine/base/log.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace gridmount::log {

struct Unwritable {};
struct Counted {
  int* formatted;
};

}  // namespace gridmount::log

template <>
struct fmt::formatter<gridmount::log::Unwritable> : fmt::formatter<int> {
  template <typename Context>
  auto format(const gridmount::log::Unwritable&, Context& context) const {
    throw std::runtime_error("no memory");
    return context.out();
  }
};

template <>
struct fmt::formatter<gridmount::log::Counted> : fmt::formatter<int> {
  template <typename Context>
  auto format(const gridmount::log::Counted& counted, Context& context) const {
    ++*counted.formatted;
    return context.out();
  }
};

namespace gridmount::log {

namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() : before_(spdlog::default_logger()) {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_));
    logger->set_pattern("%l: %v");
    logger->set_level(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  }
  ~LogTest() override { spdlog::set_default_logger(before_); }

  std::ostringstream lines_;

 private:
  const std::shared_ptr<spdlog::logger> before_;
};

TEST_F(LogTest, Messages_OfEachLevel_HaveTheLevelAndTheArguments) {
  debug("{}", "below the level of the log");
  info("{} is mounted at {}", "a", std::string("b"));
  warn("{:.1f} s", 1.25);
  error("{} commands", 3);
  critical("no arguments");
  flush();
  EXPECT_EQ(lines_.str(),
            "info: a is mounted at b\n"
            "warning: 1.2 s\n"
            "error: 3 commands\n"
            "critical: no arguments\n");
}

TEST_F(LogTest, Message_BelowTheLevel_IsNotFormatted) {
  int formatted = 0;
  debug("{}", Counted{&formatted});
  EXPECT_EQ(formatted, 0);
  info("{}", Counted{&formatted});
  EXPECT_EQ(formatted, 1);
}

TEST_F(LogTest, Message_WithBraces_IsNotAFormat) {
  info("{}", "{} {0}");
  EXPECT_EQ(lines_.str(), "info: {} {0}\n");
}

TEST_F(LogTest, Message_ThatCannotBeFormatted_IsReplacedByTheReason) {
  error("{}", Unwritable{});
  EXPECT_EQ(lines_.str(), "error: a message could not be formatted: no memory\n");
}

}  // namespace

}  // namespace gridmount::log
