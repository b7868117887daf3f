// The interface between the server, which reads requests and sends replies, and the code that
// answers the requests: with the files of a store (site.h), or with a page of metrics
// (metrics_page.h). A RequestHandler is thread-safe, a BodyReceiver is not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "http/reply.h"
#include "http/request.h"

namespace gridmount::http {

// Takes the body of a request. If the object is destroyed without finish(), the request has no
// effect. Must be used by one thread at a time.
class BodyReceiver {
 public:
  virtual ~BodyReceiver() = default;
  // Takes the next bytes of the body. Does not keep the span. Returns a reply if the request has
  // failed. The caller must then call neither take() nor finish() any more.
  virtual std::optional<Reply> take(std::span<const uint8_t> bytes) = 0;
  // Must be called once, after the last bytes. Returns the reply to the request.
  virtual Reply finish() = 0;
};

// The reply to a request, or the object that takes the body of the request and then replies.
using Answer = std::variant<Reply, std::unique_ptr<BodyReceiver>>;

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  // Answers a request. Turns errors into replies. If the answer is a reply, the server does not
  // read the body of the request. Thread-safe: several threads call this function at the same time.
  // The answer does not refer to `request`. The caller may use the answer after the handler is
  // destroyed.
  virtual Answer answer(const Request& request) const = 0;
  // The server calls this function when it ends, perhaps twice, and while other threads are in
  // answer(). Makes answers that take long fail soon.
  virtual void stop() const {}
};

}  // namespace gridmount::http
