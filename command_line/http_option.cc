#include "command_line/http_option.h"

#include <CLI/CLI.hpp>
#include <chrono>

namespace gridmount::command_line {

namespace {

constexpr size_t kConnectionsMax = 10'000;
constexpr double kIdleSecondsMin = 0.1;
constexpr double kIdleSecondsMax = 86'400;
constexpr size_t kHeadBytesMin = size_t{1} * 1024;
constexpr size_t kHeadBytesMax = size_t{1024} * 1024;

// Accepts only numbers from `least` to `most`. Leaves CLI11's description of the range out of the
// help.
template <typename Number>
CLI::Validator from_to(Number least, Number most) {
  CLI::Validator range = CLI::Range(least, most);
  range.description("");
  return range;
}

}  // namespace

void add_http_options(CLI::App& app, HttpOptions& options) {
  CLI::Option* const http =
      app.add_option("--http", options.address,
                     "loopback address that serves files over HTTP; everybody who can reach it can "
                     "read all files")
          ->type_name("HOST:PORT");
  CLI::Validator size_value = CLI::AsSizeValue(false);
  size_value.description("");
  app.add_option("--http-connections", options.limits.connections,
                 "HTTP connections at a time; further ones get the status 503")
      ->check(from_to(size_t{1}, kConnectionsMax))
      ->type_name("N")
      ->capture_default_str()
      ->needs(http);
  app.add_option_function<double>(
         "--http-idle-timeout",
         [&options](double seconds) {
           options.limits.idle_patience =
               std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
         },
         "seconds that an HTTP connection may be idle between two requests")
      ->check(from_to(kIdleSecondsMin, kIdleSecondsMax))
      ->type_name("SECONDS")
      ->default_str("30")
      ->needs(http);
  app.add_option("--http-head-bytes", options.limits.head_bytes,
                 "maximum size of the head of an HTTP request, from 1K to 1M")
      ->transform(size_value)
      ->check(from_to(kHeadBytesMin, kHeadBytesMax))
      ->type_name("SIZE")
      ->capture_default_str()
      ->needs(http);
  CLI::Option* const write =
      app.add_flag("--http-write", options.write,
                   "let HTTP clients write and remove files; everybody who can reach the "
                   "address can do so")
          ->needs(http);
  app.add_option("--http-upload-max", options.upload_bytes_max,
                 "maximum size of a file that is written over HTTP, e.g. 1G; 0: no limit")
      ->transform(size_value)
      ->type_name("SIZE")
      ->capture_default_str()
      ->needs(write);
}

Status check_http_options(const HttpOptions& options, const wire::EndpointOptions& endpoint) {
  if (!options.address) return {};
  if (!endpoint.listen.empty() && !endpoint.no_auth) {
    return fail(ErrorCode::kInvalidOptions,
                "--http has no log-in, so --listen beside it needs --no-auth");
  }
  if (!endpoint.tls_ca_file.empty()) {
    return fail(ErrorCode::kInvalidOptions,
                "--http checks no client certificates, so it cannot be used with --tls-ca-file");
  }
  return {};
}

}  // namespace gridmount::command_line
