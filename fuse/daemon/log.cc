#include "fuse/daemon/log.h"

#include <spdlog/details/file_helper.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <memory>
#include <mutex>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/log_formatter.h"

namespace gridmount::fuse {

namespace {

class LogFile : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // The constructor and reopen() throw spdlog_ex if the file cannot be opened.
  explicit LogFile(std::string path) : path_(std::move(path)), file_(open()) {}
  void reopen() {
    auto file = open();
    const std::lock_guard<std::mutex> lock(mutex_);
    file_ = std::move(file);
  }

 private:
  using File = spdlog::details::file_helper;

  std::unique_ptr<File> open() const {
    auto file = std::make_unique<File>();
    file->open(path_);
    return file;
  }
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_->write(line);
  }
  void flush_() override { file_->flush(); }

  const std::string path_;
  std::unique_ptr<File> file_;  // guarded by base_sink's mutex_, held when sink_it_ is called
};

}  // namespace

Status set_up_log(const GridmountOptions& options) {
  spdlog::sink_ptr sink;
  std::string lead = "%Y-%m-%dT%H:%M:%S.%e %l: ";
  if (options.log_file) {
    try {
      sink = std::make_shared<LogFile>(options.log_file->string());
    } catch (const spdlog::spdlog_ex& error) {
      return fail(ErrorCode::kBadValue, "--log-file: " + std::string(error.what()));
    }
  } else if (options.foreground) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    lead = "gridmount: %l: ";
  } else {
    sink = std::make_shared<spdlog::sinks::syslog_sink_mt>("gridmount", LOG_PID, LOG_DAEMON, true);
    lead.clear();
  }
  auto logger = std::make_shared<spdlog::logger>("gridmount", std::move(sink));
  logger->set_formatter(log_formatter(lead));
  logger->set_level(spdlog::level::from_str(options.log_level));
  // Lines of the level info and above are flushed at once, so that they survive a crash.
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

void reopen_log() {
  for (const spdlog::sink_ptr& sink : spdlog::default_logger()->sinks()) {
    auto* file = dynamic_cast<LogFile*>(sink.get());
    if (file == nullptr) continue;
    try {
      file->reopen();
      log::info("the log file was reopened");
    } catch (const spdlog::spdlog_ex& error) {
      log::error("the log file could not be reopened, so the old one stays in use: {}",
                 error.what());
    }
  }
}

}  // namespace gridmount::fuse
