// One page, /metrics, with the text that Prometheus reads.
//
// No request changes anything. The page does not check the field Host, because Prometheus addresses
// the page by the name of the machine. So a web page of another site whose host name resolves to
// this address can read the metrics.
//
// Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "http/http_server.h"
#include "http/request_handler.h"

namespace gridmount::http {

class MetricsPage final : public RequestHandler {
 public:
  // The threads of the server call `metrics`, so it must be thread-safe.
  explicit MetricsPage(std::function<std::string()> metrics) : metrics_(std::move(metrics)) {}

  // Returns the metrics for GET and HEAD of /metrics, with any parameters. Returns 400,
  // 404 or 405 for other requests.
  Answer answer(const Request& request) const override;

 private:
  const std::function<std::string()> metrics_;
};

// Starts a server of the page on any address. One thread does all the work. There are at most 16
// connections at a time, and further ones are closed without a reply. The head of a request may
// have at most 8 KiB. The server waits at most 5 seconds for a head, for the next request of a
// connection, and until the client takes a piece of the reply. Fails as HttpServer::start() does.
Result<std::unique_ptr<HttpServer>> serve_metrics(const std::string& address,
                                                  std::function<std::string()> metrics);

}  // namespace gridmount::http
