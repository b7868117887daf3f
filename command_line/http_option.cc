#include "command_line/http_option.h"

#include <CLI/CLI.hpp>

namespace gridmount::command_line {

void add_http_option(CLI::App& app, std::optional<std::string>& address) {
  app.add_option("--http", address,
                 "loopback address that serves files over HTTP, read-only; everybody who can reach "
                 "it can read all files")
      ->type_name("HOST:PORT");
}

Status check_http_option(const std::optional<std::string>& address,
                         const wire::EndpointOptions& endpoint) {
  if (!address) return {};
  if (!endpoint.listen.empty() && !endpoint.no_auth) {
    return fail(ErrorCode::kInvalidOptions,
                "--http has no log-in, so it excludes --listen without --no-auth");
  }
  if (!endpoint.tls_ca_file.empty()) {
    return fail(ErrorCode::kInvalidOptions,
                "--http has no client certificates, so it excludes --tls-ca-file");
  }
  return {};
}

}  // namespace gridmount::command_line
