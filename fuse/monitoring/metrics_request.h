// Builds the reply to an HTTP request for the metrics. Pure functions, so thread-safe.
// metrics_server.h does the I/O.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gridmount::fuse {

// Returns the whole reply to a request of HTTP/1.0 or 1.1. `head` is everything before the first
// empty line. The reply to GET or HEAD of /metrics has the metrics. The reply to any other request
// has a status that says what is wrong. The caller closes the connection after the reply.
std::string http_reply(std::string_view head, const std::function<std::string()>& metrics);

// Returns the reply to a request with a head that is too long.
std::string http_reply_to_long_head();

}  // namespace gridmount::fuse
