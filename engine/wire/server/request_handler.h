// The interface through which the server passes on requests. A Service implements it (see
// service_handler.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/wire/client.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

class ServerStats;

// Thread-safe. The contracts of the functions are in engine/wire/service.h.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  virtual Outcome handle(Client& client, const Request& request) = 0;
  virtual void forget(Client& client) = 0;
  virtual std::string account(const Client& client) const = 0;
  virtual void expire(std::chrono::steady_clock::time_point now) = 0;
  virtual void shut_down() = 0;

  // changes() has changed before `notify` is called.
  virtual uint64_t changes() const = 0;
  // Called once, before the first request. `notify` may be called as long as the handler exists,
  // even after its server has ended.
  virtual void on_change(std::function<void()> notify) = 0;
  // Called before the first request, and with nullptr after the last one.
  virtual void set_stats(const ServerStats* stats) = 0;
};

}  // namespace gridmount::wire
