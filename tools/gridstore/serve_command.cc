#include "tools/gridstore/serve_command.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command_line/store_argument.h"
#include "engine/base/log_formatter.h"
#include "engine/base/thread_name.h"
#include "engine/store.h"
#include "engine/system/memory.h"
#include "engine/system/memory_limit.h"
#include "engine/wire/server/endpoint.h"
#include "engine/wire/server/process_end.h"
#include "tools/gridstore/store_argument.h"
#include "tools/store_opening.h"

namespace gridmount::tools {

namespace {

struct ServeOptions {
  std::filesystem::path store;
  bool create = false;
  std::optional<uint64_t> memory_max;
  uint64_t size_limit = 0;
  wire::EndpointOptions endpoint;  // without the socket's folder
};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void set_up_log() {
  auto logger = std::make_shared<spdlog::logger>("gridstore",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(log_formatter("%Y-%m-%dT%H:%M:%S.%e %l: "));
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
    name_this_thread("gm-signals");
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    spdlog::error("a second signal ({}): ending at once", strsignal(signal));
    _exit(128 + signal);
  }).detach();
}

// While a command goes on that was told to end: neither the server nor the store can be taken away
// from under it.
[[noreturn]] void end_beside_stuck(engine::Store& store) {
  constexpr int kFailed = static_cast<int>(ExitStatus::kCloseFailed);
  wire::end_process_within(wire::kPatienceWithStuck, kFailed);
  const Status durable = store.make_durable();
  if (!durable) spdlog::error("{}", durable.error().message());
  spdlog::default_logger()->flush();
  _exit(durable ? static_cast<int>(ExitStatus::kOk) : kFailed);
}

ExitStatus run_serve(const ServeOptions& options) {
  // Before the first thread: they are waited for here and interrupt nothing.
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  set_up_log();
  system::tune_allocator();
  local::OpenOptions open_options;
  open_options.create = options.create;
  open_options.size_limit = options.size_limit;
  if (has_no_socket(options.store)) {
    spdlog::error("{} is no socket, so that no server can listen there; move it elsewhere",
                  socket_path(options.store).string());
    return ExitStatus::kFailure;
  }
  auto store = open_store(options.store, open_options);
  if (!store) {
    return fail_with(options.create
                         ? store.error()
                         : command_line::with_create_advice(store.error(), "gridstore serve"));
  }

  wire::EndpointOptions endpoint_options = options.endpoint;
  endpoint_options.socket_folder = options.store;
  const uint64_t memory_bytes = options.memory_max.value_or(system::memory_limit());
  const system::MemoryShares memory = system::share_out(memory_bytes);
  endpoint_options.request_bytes_max = memory.request_bytes;
  endpoint_options.reply_bytes_max = memory.reply_bytes;
  endpoint_options.operation_bytes_max = memory.operation_bytes;
  endpoint_options.filter_bytes_max = memory.filter_bytes;
  endpoint_options.worker_threads = memory.worker_threads;
  auto endpoint = wire::Endpoint::start(**store, std::move(endpoint_options));
  if (!endpoint) return fail_with(endpoint.error());
  const std::vector<std::string> addresses = (*endpoint)->addresses();
  if (addresses.empty()) {
    spdlog::error("there is nowhere to listen: the store's folder takes no socket; give --listen");
    return ExitStatus::kFailure;
  }
  for (const std::string& address : addresses) spdlog::info("listening on {}", address);

  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  spdlog::info("ending on signal: {}", strsignal(signal));
  end_at_once_on(signals);
  if (!(*endpoint)->stop()) end_beside_stuck(**store);
  endpoint->reset();
  store->reset();
  spdlog::info("ended");
  return ExitStatus::kOk;
}

}  // namespace

Subcommand add_serve(CLI::App& app, std::vector<std::string> arguments) {
  const auto options = std::make_shared<ServeOptions>();
  wire::EndpointOptions& endpoint = options->endpoint;
  endpoint.arguments = std::move(arguments);
  CLI::App* const command = app.add_subcommand(
      "serve",
      "Answers MongoDB's wire protocol on gridmount.sock in the store, and on TCP if asked");
  add_store_argument(*command, options->store);
  command->add_flag("--create", options->create, "make the store if there is none");
  command
      ->add_option("--memory-max", options->memory_max,
                   "memory that all of it is to get by with, 96M at least; unless given, what the "
                   "machine has and its control groups allow")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(system::kLeastMemory, std::numeric_limits<uint64_t>::max(), "96M or more"))
      ->type_name("SIZE");
  command
      ->add_option("--size-limit", options->size_limit,
                   "the most that the store may hold, e.g. 10G; 0: what the disk has room for")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--listen", endpoint.listen, "HOST:PORT of TCP; may be given several times")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  command->add_flag("--no-auth", endpoint.no_auth,
                    "let clients of TCP in without a password; loopback addresses only");
  command
      ->add_option("--tls-certificate-key-file", endpoint.tls_certificate_key_file,
                   "PEM file with the certificate and its key: TLS on TCP")
      ->type_name("FILE");
  command
      ->add_option("--tls-ca-file", endpoint.tls_ca_file,
                   "PEM file of who may have signed clients' certificates, one of which every "
                   "client of TCP has to show")
      ->type_name("FILE");
  command->add_flag("--tls-allow-connections-without-certificates",
                    endpoint.tls_allows_no_certificate,
                    "with --tls-ca-file, let clients in that show no certificate");
  return {command, [options] { return run_serve(*options); }};
}

}  // namespace gridmount::tools
