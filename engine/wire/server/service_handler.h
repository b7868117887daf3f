// Implements RequestHandler with a Service. Thread-safe.
#pragma once

#include "engine/wire/server/request_handler.h"
#include "engine/wire/service.h"

namespace gridmount::wire {

class ServiceHandler final : public RequestHandler {
 public:
  // `service` must outlive the handler.
  explicit ServiceHandler(Service& service) : service_(service) {}

  Outcome handle(Client& client, const Request& request) override {
    return service_.handle(client, request);
  }
  void forget(Client& client) override { service_.forget(client); }
  std::string account(const Client& client) const override { return service_.account(client); }
  void expire(std::chrono::steady_clock::time_point now) override { service_.expire(now); }
  void shut_down() override { service_.shut_down(); }
  uint64_t changes() const override { return service_.changes(); }
  void on_change(std::function<void()> notify) override { service_.on_change(std::move(notify)); }
  void set_stats(const ServerStats* stats) override { service_.set_stats(stats); }

 private:
  Service& service_;
};

}  // namespace gridmount::wire
