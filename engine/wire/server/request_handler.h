// Who answers the requests that a server receives. A Service is one (see service_handler.h); the
// server knows no more of it than this.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/wire/client.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

class ServerFigures;

// Thread-safe. What each function promises is said in engine/wire/service.h.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  virtual Outcome handle(Client& client, const Request& request) = 0;
  virtual void forget(Client& client) = 0;
  virtual std::string account(const Client& client) const = 0;
  virtual void expire(std::chrono::steady_clock::time_point now) = 0;
  virtual void shut_down() = 0;

  // What changes() gives is another number before `notify` is called.
  virtual uint64_t changes() const = 0;
  // Called once, before the first request. `notify` may be called for as long as the handler lives,
  // also after its server has ended.
  virtual void on_change(std::function<void()> notify) = 0;
  // Before the first request, and with nullptr after the last.
  virtual void set_figures(const ServerFigures* figures) = 0;
};

}  // namespace gridmount::wire
