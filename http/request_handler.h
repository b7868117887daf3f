// What a server answers its requests with: the files of a store (site.h), or a page of metrics
// (metrics_page.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "http/reply.h"
#include "http/request.h"

namespace gridmount::http {

// Takes the body of a request. If it is destroyed without finish(), nothing of the body is kept.
// Used by one thread at a time.
class BodyReceiver {
 public:
  virtual ~BodyReceiver() = default;
  // Takes the next bytes. Returns a reply if the request has failed. Nothing else may be called
  // then.
  virtual std::optional<Reply> take(std::span<const uint8_t> bytes) = 0;
  // Must be called after the last byte. Returns the reply to the request.
  virtual Reply finish() = 0;
};

// The reply to a request, or what takes its body first.
using Answer = std::variant<Reply, std::unique_ptr<BodyReceiver>>;

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  // Answers a request. Errors become replies. If the answer is a reply, the body of the request is
  // not read. Several threads call it at the same time. The answer may be used after the handler is
  // destroyed.
  virtual Answer answer(const Request& request) const = 0;
  // Called when the server ends. Answers that take long should fail soon.
  virtual void stop() const {}
};

}  // namespace gridmount::http
