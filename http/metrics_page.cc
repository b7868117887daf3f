#include "http/metrics_page.h"

#include <utility>

#include "http/target.h"

namespace gridmount::http {

Answer MetricsPage::answer(const Request& request) const {
  const bool is_head = request.method == Request::Method::kHead;
  const Result<Target> target = parse_target(request.target);
  if (!target) return refusal(400, target.error().message(), is_head);
  if (target->components.size() != 1 || target->components[0] != "metrics" ||
      target->ends_with_slash) {
    return refusal(404, "the metrics are at /metrics", is_head);
  }
  if (!request.is_read()) {
    Reply reply = refusal(405, "metrics can only be read", is_head);
    reply.add("Allow", "GET, HEAD");
    return reply;
  }
  Reply reply = text_reply(200, "text/plain; version=0.0.4; charset=utf-8", metrics_(), is_head);
  reply.add("Cache-Control", "no-store");
  return reply;
}

Result<std::unique_ptr<HttpServer>> serve_metrics(const std::string& address,
                                                  std::function<std::string()> metrics) {
  constexpr std::chrono::milliseconds kPatience{5000};
  HttpServerOptions options;
  options.address = address;
  options.loopback_only = false;
  options.threads = 1;
  options.thread_name = "gm-metrics";
  options.limits.connections = 16;
  options.limits.refusals = 0;
  options.limits.head_bytes = 8192;
  options.limits.head_patience = kPatience;
  options.limits.idle_patience = kPatience;
  options.limits.send_patience = kPatience;
  return HttpServer::start(std::make_unique<MetricsPage>(std::move(metrics)), std::move(options));
}

}  // namespace gridmount::http
