// Serves HTTP/1.1: the answers of a handler (request_handler.h), such as the files of a store.
//
// There is neither TLS nor a log-in, so everybody who can connect gets all answers.
//
// HttpLimits limits the number of connections. It also limits the time of each wait for a client. A
// fixed number of threads serves any number of connections. A connection needs about 2 KiB of
// memory while it is idle, and keeps the target of its last request. A request needs a buffer of at
// most twice HttpLimits::head_bytes, and memory for its parsed fields and a copy of them. Content
// needs at most kPieceBytesMax (reply.h). An upload needs 64 KiB here, and the buffers of an
// UploadStream. The XML of a WebDAV request has at most kXmlBytesMax bytes, and the names of its
// parsed elements have at most kXmlNameBytesMax (xml_document.h). No connection holds a snapshot of
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
#include "http/http_limits.h"
#include "http/request_handler.h"
#include "http/site.h"

namespace gridmount::http {

// The number of threads that serve all connections.
inline constexpr size_t kHttpThreads = 4;
// The number of further threads of a server whose site accepts changes (SiteOptions::write). Only
// these threads make changes, so the other threads can answer reads while a change waits for
// earlier changes.
inline constexpr size_t kHttpChangeThreads = 4;
// When a program ends, it waits at most this long for answers that are being made.
inline constexpr std::chrono::milliseconds kHttpEndPatience{1500};

struct HttpServerOptions {
  std::string address;        // HOST:PORT
  bool loopback_only = true;  // start() refuses other addresses
  size_t threads = kHttpThreads;
  const char* thread_name = "gm-http";  // at most 15 characters
  size_t change_threads = 0;            // 0: `threads` make the changes, too
  HttpLimits limits = {};
};

class HttpServer {
 public:
  // Checks an address for start() before a program opens a store. Fails with BadValue if the
  // address is not HOST:PORT or has an unknown host, and with InvalidOptions if the host has an
  // address that is not a loopback address. May wait for a name server.
  static Status check_address(const std::string& address);
  // Starts to answer requests. Fails with BadValue if the address is not HOST:PORT or has an
  // unknown host, with InvalidOptions if HttpServerOptions::loopback_only forbids the address, with
  // IoError if the server cannot listen on the address, and with InternalError if the system
  // refuses a thread or a descriptor. May wait for a name server. Starts threads, so a process that
  // becomes a daemon must call start() after fork().
  static Result<std::unique_ptr<HttpServer>> start(std::unique_ptr<RequestHandler> handler,
                                                   HttpServerOptions options);
  // Does the same as end(), but waits without a limit, and closes the sockets.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Stops all connections, even in the middle of a reply. Their sockets stay open until the
  // destructor closes them. Waits for at most `patience` until the threads have made the answers
  // and pieces of replies that they are working on. Returns false if a thread still works on one
  // afterwards, for example because a read of the disk hangs. Then the process must end without
  // destroying the server, the store, or anything else that the handler uses.
  bool end(std::chrono::milliseconds patience);

  // Returns HOST:PORT of each address on which the server listens. If the port in
  // HttpServerOptions::address is 0, PORT is the port that the system has chosen.
  std::vector<std::string> addresses() const;

 private:
  class Running;
  explicit HttpServer(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

// Starts a server of the files of a store (site.h). `store` must outlive the server. Everybody who
// can connect can read all files that the site shows, whatever their permissions are. The server
// answers only requests that address it by a loopback name or address, by the host of
// HttpServerOptions::address, or by one of SiteOptions::hosts (host_names.h). With
// SiteOptions::write, kHttpChangeThreads replaces HttpServerOptions::change_threads. Fails as
// HttpServer::start() does.
Result<std::unique_ptr<HttpServer>> serve_files(engine::Store& store, SiteOptions site,
                                                HttpServerOptions options);

}  // namespace gridmount::http
