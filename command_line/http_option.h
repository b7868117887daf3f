// The option --http of gridmount and `gridstore serve`.
//
// Thread-safety: free functions without state.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/wire/server/endpoint.h"

namespace CLI {
class App;
}

namespace gridmount::command_line {

// Adds --http. It sets `address` when the arguments are parsed, so `address` must live until then.
void add_http_option(CLI::App& app, std::optional<std::string>& address);

// Fails with InvalidOptions if HTTP is asked for beside a server on TCP that demands a log-in or
// client certificates. Clients of HTTP cannot log in, so they would get around that.
Status check_http_option(const std::optional<std::string>& address,
                         const wire::EndpointOptions& endpoint);

}  // namespace gridmount::command_line
