#include "tools/gridstore/serve_command.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "engine/local/environment.h"
#include "engine/store.h"
#include "engine/wire/server/endpoint.h"
#include "tools/store_opening.h"

namespace gridmount::tools {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void set_up_log() {
  auto logger = std::make_shared<spdlog::logger>("gridstore",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

ExitStatus fail_with(const Error& error) {
  spdlog::error("{}", error.message());
  return exit_status_of(error.code());
}

// The second signal of one who does not want to wait.
void end_at_once_on(const sigset_t& signals) {
  std::thread([signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    spdlog::error("a second signal ({}): ending at once", strsignal(signal));
    _exit(128 + signal);
  }).detach();
}

}  // namespace

ExitStatus run_serve(const ServeOptions& options) {
  // Before the first thread: they are waited for here and interrupt nothing.
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  set_up_log();
  local::tune_allocator();
  local::OpenOptions open_options;
  open_options.create = options.create;
  auto store = open_store(options.store, open_options);
  if (!store) return fail_with(store.error());

  wire::EndpointOptions endpoint_options = options.endpoint;
  endpoint_options.socket_folder = options.store;
  auto endpoint = wire::Endpoint::start(**store, std::move(endpoint_options));
  if (!endpoint) return fail_with(endpoint.error());
  for (const std::string& address : (*endpoint)->addresses()) {
    spdlog::info("listening on {}", address);
  }

  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  spdlog::info("ending on signal: {}", strsignal(signal));
  end_at_once_on(signals);
  (*endpoint)->stop();
  spdlog::info("ended");
  return ExitStatus::kOk;
}

}  // namespace gridmount::tools
