#include "engine/wire/server/endpoint.h"

#include <sys/resource.h>

#include <utility>

#include "engine/wire/server/server.h"
#include "engine/wire/server/service_handler.h"
#include "engine/wire/service.h"

namespace gridmount::wire {
namespace {

// Each connection needs a descriptor, and the soft limit is usually low.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Endpoint::Endpoint(std::unique_ptr<Service> service, std::unique_ptr<ServiceHandler> handler)
    : service_(std::move(service)), handler_(std::move(handler)) {}

Endpoint::~Endpoint() = default;

Result<std::unique_ptr<Endpoint>> Endpoint::start(engine::Store& store, EndpointOptions options) {
  raise_descriptor_limit();
  ServiceOptions service_options;
  service_options.authentication = !options.no_auth;
  service_options.operation_bytes_max = options.operation_bytes_max;
  service_options.filter_bytes_max = options.filter_bytes_max;
  service_options.arguments = std::move(options.arguments);
  auto service = std::make_unique<Service>(store, std::move(service_options));
  auto handler = std::make_unique<ServiceHandler>(*service);
  std::unique_ptr<Endpoint> endpoint(new Endpoint(std::move(service), std::move(handler)));

  ServerOptions server_options;
  server_options.socket_folder = std::move(options.socket_folder);
  server_options.listen = std::move(options.listen);
  server_options.authentication = !options.no_auth;
  server_options.tls_certificate_key_file = std::move(options.tls_certificate_key_file);
  server_options.tls_ca_file = std::move(options.tls_ca_file);
  server_options.tls_allows_no_certificate = options.tls_allows_no_certificate;
  server_options.limits.request_bytes_max = options.request_bytes_max;
  server_options.limits.reply_bytes_max = options.reply_bytes_max;
  server_options.limits.worker_threads = options.worker_threads;
  GM_ASSIGN(endpoint->server_, Server::start(*endpoint->handler_, std::move(server_options)));
  return endpoint;
}

bool Endpoint::stop() {
  return server_ == nullptr || server_->stop();
}

std::vector<std::string> Endpoint::addresses() const {
  return server_ ? server_->addresses() : std::vector<std::string>();
}

}  // namespace gridmount::wire
