#include "tools/gridstore/serve_command.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/endpoint_options.h"
#include "command_line/http_option.h"
#include "command_line/signals.h"
#include "command_line/store_argument.h"
#include "command_line/store_opening.h"
#include "engine/base/log.h"
#include "engine/base/log_formatter.h"
#include "engine/store.h"
#include "engine/system/memory.h"
#include "engine/system/memory_limit.h"
#include "engine/wire/server/endpoint.h"
#include "engine/wire/server/process_end.h"
#include "http/http_server.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

namespace {

struct ServeOptions {
  std::filesystem::path store;
  bool create = false;
  std::optional<uint64_t> memory_max;
  uint64_t size_limit = 0;
  wire::EndpointOptions endpoint;  // without the store's folder
  command_line::HttpOptions http;
  std::string http_database = "test";
};

void set_up_log() {
  auto logger = std::make_shared<spdlog::logger>("gridstore",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(log_formatter("%Y-%m-%dT%H:%M:%S.%e %l: "));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

ExitStatus log_error(const Error& error) {
  log::error("{}", error.message());
  return exit_status_of(error.code());
}

// Ends the process while a command does not end although it was interrupted, or while an HTTP reply
// is still being made. The command or the reply uses the servers and the store, so these cannot be
// destroyed.
[[noreturn]] void end_beside_stuck(engine::Store& store) {
  constexpr int kFailed = static_cast<int>(ExitStatus::kCloseFailed);
  wire::end_process_within(wire::kPatienceWithStuck, kFailed);
  const Status durable = store.make_durable();
  if (!durable) log::error("{}", durable.error().message());
  log::flush();
  _exit(durable ? static_cast<int>(ExitStatus::kOk) : kFailed);
}

// Returns null without the option --http.
Result<std::unique_ptr<http::HttpServer>> start_http(engine::Store& store,
                                                     const ServeOptions& options) {
  if (!options.http.address) return std::unique_ptr<http::HttpServer>();
  http::HttpServerOptions how;
  how.address = *options.http.address;
  how.limits = options.http.limits;
  http::SiteOptions site;
  site.database = options.http_database;
  if (options.http.write) {
    http::WriteOptions write;
    write.paths.default_owner = {.uid = geteuid(), .gid = getegid()};
    write.upload_bytes_max = options.http.upload_bytes_max;
    site.write = std::move(write);
  }
  auto server = http::serve_files(store, std::move(site), std::move(how));
  if (!server) return fail(std::move(server).error().with_context("--http"));
  for (const std::string& address : (*server)->addresses()) {
    log::info("serving files at http://{}/", address);
  }
  return server;
}

ExitStatus run_serve(const ServeOptions& options) {
  // Must precede the first thread, so that all threads block the signals.
  block_signals();
  set_up_log();
  system::tune_allocator();
  if (const Status fits = command_line::check_http_options(options.http, options.endpoint); !fits) {
    return log_error(fits.error());
  }
  if (options.http.address) {
    auto checked = http::HttpServer::check_address(*options.http.address);
    if (!checked) return log_error(std::move(checked).error().with_context("--http"));
  }
  local::OpenOptions open_options;
  open_options.create = options.create;
  open_options.size_limit = options.size_limit;
  if (command_line::is_socket_path_taken(options.store)) {
    log::error("{} is not a socket, so no server can listen there; move it elsewhere",
               command_line::socket_path(options.store).string());
    return ExitStatus::kFailure;
  }
  auto store = command_line::open_store(options.store, open_options);
  if (!store) {
    return log_error(options.create
                         ? store.error()
                         : command_line::with_create_advice(store.error(), "gridstore serve"));
  }

  wire::EndpointOptions endpoint_options = options.endpoint;
  endpoint_options.socket_folder = options.store;
  const uint64_t memory_bytes = options.memory_max.value_or(system::memory_limit());
  const system::MemoryShares memory = system::share_out(memory_bytes);
  command_line::set_memory_shares(endpoint_options, memory);
  auto endpoint = wire::Endpoint::start(**store, std::move(endpoint_options));
  if (!endpoint) return log_error(endpoint.error());
  const std::vector<std::string> addresses = (*endpoint)->addresses();
  if (addresses.empty()) {
    log::error(
        "there is no address to listen on: the store's file system does not support sockets; use "
        "--listen");
    return ExitStatus::kFailure;
  }
  for (const std::string& address : addresses) log::info("listening on {}", address);

  auto http = start_http(**store, options);
  if (!http) return log_error(http.error());

  std::promise<void> is_to_end;
  Signals signals(SignalActions{.stop = [&is_to_end] { is_to_end.set_value(); },
                                .on_sighup = SighupAction::kStops,
                                .reopen_log = nullptr,
                                .report = nullptr});
  is_to_end.get_future().wait();
  signals.end_actions();
  const bool http_has_ended = !*http || (*http)->end(http::kHttpEndPatience);
  if (!(*endpoint)->stop() || !http_has_ended) end_beside_stuck(**store);
  http->reset();
  endpoint->reset();
  const Status durable = (*store)->make_durable();
  store->reset();
  if (!durable) {
    (void)log_error(durable.error());
    return ExitStatus::kCloseFailed;
  }
  log::info("ended");
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
  command->add_flag("--create", options->create, "create the store if it does not exist");
  // Parses sizes such as "16M". Leaves CLI11's own descriptions out of the help.
  CLI::Validator size_value = CLI::AsSizeValue(false);
  size_value.description("");
  CLI::Validator memory_range =
      CLI::Range(system::kLeastMemory, std::numeric_limits<uint64_t>::max(), "96M or more");
  memory_range.description("");
  command
      ->add_option("--memory-max", options->memory_max,
                   "memory limit of the whole process, at least 96M; default: what the machine "
                   "and its control groups allow")
      ->transform(size_value)
      ->check(memory_range)
      ->type_name("SIZE");
  command
      ->add_option("--size-limit", options->size_limit,
                   "maximum size of the store, e.g. 10G; 0: only the disk limits it")
      ->transform(size_value)
      ->type_name("SIZE");
  command_line::add_endpoint_options(*command, endpoint);
  command_line::add_http_options(*command, options->http);
  command->add_option("--http-db", options->http_database, "database whose buckets --http serves")
      ->check(command_line::database_name())
      ->type_name("NAME")
      ->capture_default_str();
  return {command, [options] { return run_serve(*options); }};
}

}  // namespace gridmount::tools
