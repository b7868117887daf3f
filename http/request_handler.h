// What a server answers its requests with: the files of a store (site.h), or a page of metrics
// (metrics_page.h).
#pragma once

#include "http/reply.h"
#include "http/request.h"

namespace gridmount::http {

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  // Answers a request. Errors become replies. Several threads call it at the same time. The reply
  // may be used after the handler is destroyed.
  virtual Reply answer(const Request& request) const = 0;
};

}  // namespace gridmount::http
