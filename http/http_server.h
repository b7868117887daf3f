// Serves the files of a store over HTTP/1.1, read-only (site.h).
//
// Everybody who can connect can read all files that the site shows, whatever their permissions are:
// there is neither TLS nor a log-in. So the server listens on loopback addresses alone. It answers
// only requests that address it by a loopback name or address, by the host of
// HttpServerOptions::address, or by one of SiteOptions::hosts (host_names.h).
//
// HttpLimits bounds how many connections clients can make, and how long a connection waits for its
// client each time. A few threads do all the work, whatever the number of connections is. A
// connection needs about 2 KiB of memory while it is idle, and keeps the last target. A request
// needs a buffer of at most twice HttpLimits::head_bytes, and memory for its parsed fields and a
// copy of them. Content needs at most kPieceBytesMax (reply.h). No connection holds a snapshot of
// the store while it waits for its client.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"
#include "http/site.h"

namespace gridmount::http {

// The number of threads that serve all connections.
inline constexpr size_t kHttpThreads = 4;

struct HttpLimits {
  // Connections at a time. Further ones get the status 503.
  size_t connections = 256;
  // How many connections get that reply at a time. Further ones are closed without a reply.
  size_t refusals = 64;
  // The bytes of the head of a request. A longer one gets the status 431.
  size_t head_bytes = size_t{16} * 1024;
  // The fields of a head. A head with more fields gets the status 431.
  size_t fields = 100;
  // The bytes of the target of a request. A longer one gets the status 414.
  size_t target_bytes = size_t{8} * 1024;
  // How long a client may take to send a head, from its first byte to its last. A new connection
  // may also wait this long before the first byte.
  std::chrono::milliseconds head_patience{10'000};
  // How long a connection may be idle between two requests.
  std::chrono::milliseconds idle_patience{30'000};
  // How long a client may take to receive one piece of a body (kPieceBytesMax).
  std::chrono::milliseconds send_patience{30'000};
};

struct HttpServerOptions {
  std::string address;  // HOST:PORT
  SiteOptions site;
  HttpLimits limits = {};
};

class HttpServer {
 public:
  // Fails with BadValue if the address is not HOST:PORT or has an unknown host, and with
  // InvalidOptions if it is not a loopback address. Programs call it before they open a store.
  static Status check_address(const std::string& address);
  // Starts to answer requests. Fails as check_address() does, with IoError if it cannot listen on
  // the address, and with InternalError if the system refuses a thread or a descriptor. Starts
  // threads, so a process that becomes a daemon must call it after fork(). `store` must outlive the
  // server.
  static Result<std::unique_ptr<HttpServer>> start(engine::Store& store, HttpServerOptions options);
  // Closes all connections, also in the middle of a reply. Waits for reads of the store that are
  // running, each of which reads one piece.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns HOST:PORT of each address on which the server listens. If the given port was 0, this is
  // the port that the system has chosen.
  std::vector<std::string> addresses() const;

 private:
  class Running;
  explicit HttpServer(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace gridmount::http
