// The interface to which the server passes requests. ServiceHandler implements it with a Service
// (service_handler.h).
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/wire/client.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

class ServerStats;

// engine/wire/service.h describes the functions.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  virtual Outcome handle(Client& client, const Request& request) = 0;
  virtual void forget(Client& client) = 0;
  virtual std::string account(const Client& client) const = 0;
  virtual void expire(std::chrono::steady_clock::time_point now) = 0;
  virtual void shut_down() = 0;

  // At each change, the handler first changes the number that changes() returns. Then it calls the
  // `notify` of on_change().
  virtual uint64_t changes() const = 0;
  // The server calls this once, before the first request. The handler may call `notify` until it is
  // destroyed, even after the server has ended.
  virtual void on_change(std::function<void()> notify) = 0;
  // The server calls this before the first request, and with nullptr after the last one.
  virtual void set_stats(const ServerStats* stats) = 0;
};

}  // namespace gridmount::wire
