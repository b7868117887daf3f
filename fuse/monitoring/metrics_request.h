// What an HTTP request for the metrics is answered with. Pure functions: sockets are
// metrics_server's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gridmount::fuse {

// The whole reply to a request of HTTP/1.0 or 1.1, of which `head` is what came before the first
// empty line: the metrics for GET and HEAD of /metrics, else a status that says what is wrong. The
// connection is to be closed after it.
std::string http_reply(std::string_view head, const std::function<std::string()>& metrics);

// To a request whose head is longer than is read.
std::string http_reply_to_long_head();

}  // namespace gridmount::fuse
