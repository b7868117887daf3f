#include "tools/library_log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <utility>

#include "engine/base/log_text.h"

namespace gridmount::tools {

namespace {

class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LineSink(std::function<void(const std::string&)> report) : report_(std::move(report)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    report_(log_text({message.payload.data(), message.payload.size()}));
  }
  void flush_() override {}

  const std::function<void(const std::string&)> report_;
};

}  // namespace

void report_warnings(std::function<void(const std::string& line)> report) {
  auto logger = std::make_shared<spdlog::logger>("", std::make_shared<LineSink>(std::move(report)));
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace gridmount::tools
