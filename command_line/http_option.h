// The options of gridmount and `gridstore serve` for HTTP.
//
// Thread-safety: free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/wire/server/endpoint.h"
#include "http/http_limits.h"

namespace CLI {
class App;
}

namespace gridmount::command_line {

struct HttpOptions {
  std::optional<std::string> address;  // HOST:PORT; unset: no HTTP
  http::HttpLimits limits;
  bool write = false;             // clients may change files
  uint64_t upload_bytes_max = 0;  // 0: no limit
};

// Adds --http, and the options that need --http, to `app`. The parser sets `options` when it parses
// the arguments, so `options` must live until then.
void add_http_options(CLI::App& app, HttpOptions& options);

// Fails with InvalidOptions if --http is given with --tls-ca-file, or with --listen but without
// --no-auth. HTTP has neither log-ins nor client certificates, so HTTP clients would bypass the
// checks of the wire server.
Status check_http_options(const HttpOptions& options, const wire::EndpointOptions& endpoint);

}  // namespace gridmount::command_line
