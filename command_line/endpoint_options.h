// The command-line options of the wire server, for the programs that serve a store: `gridmount` and
// `gridstore serve`.
//
// Thread-safety: free functions without state.
#pragma once

#include "engine/system/memory_limit.h"
#include "engine/wire/server/endpoint.h"

namespace CLI {
class App;
}

namespace gridmount::command_line {

// Adds --listen, --no-auth and the options of TLS. The parser sets fields of `options` when it
// parses the arguments, so `options` must live until then.
void add_endpoint_options(CLI::App& app, wire::EndpointOptions& options);

// Gives the wire server its shares of the process's memory, and as many workers as these shares
// allow.
void set_memory_shares(wire::EndpointOptions& options, const system::MemoryShares& memory);

}  // namespace gridmount::command_line
