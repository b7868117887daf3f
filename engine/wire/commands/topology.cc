#include "engine/wire/commands/topology.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr ErrorCode kOneWithoutTheOther{31368};
constexpr ErrorCode kNegativeCounter{31372};
constexpr ErrorCode kNegativeTime{31373};
constexpr ErrorCode kCounterFromTheFuture{51764};
constexpr int64_t kCounter = 0;
constexpr int64_t kLongestMilliseconds = int64_t{24} * 60 * 60 * 1000;

struct Version {
  bson::ObjectId process_id;
  int64_t counter = 0;
};

Result<Version> read_version(bson::View document) {
  GM_ASSIGN(Arguments fields, Arguments::of("TopologyVersion", document));
  GM_ASSIGN(const bson::ValueView process_id, fields.required("processId"));
  if (process_id.type() != bson::Type::kObjectId) {
    return fields.wrong_type("processId", process_id, "type 'objectId'");
  }
  GM_ASSIGN(const bson::ValueView counter, fields.required("counter"));
  if (counter.type() != bson::Type::kInt64) {
    return fields.wrong_type("counter", counter, "type 'long'");
  }
  GM_TRY(fields.finish());
  if (counter.as_int64() < 0) {
    return fail(kNegativeCounter, "topologyVersion must have a non-negative counter");
  }
  return Version{process_id.as_object_id(), counter.as_int64()};
}

}  // namespace

Status await_topology(Call& call) {
  GM_ASSIGN(const std::optional<bson::View> known, call.arguments().document("topologyVersion"));
  GM_ASSIGN(const std::optional<int64_t> patience, call.arguments().integer("maxAwaitTimeMS"));
  if (known.has_value() != patience.has_value()) {
    return fail(kOneWithoutTheOther,
                known ? "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'"
                      : "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'");
  }
  if (!known) return {};
  GM_ASSIGN(const Version version, read_version(*known));
  if (*patience < 0) return fail(kNegativeTime, "maxAwaitTimeMS must be a non-negative integer");
  if (version.process_id != call.state().process_id()) return {};
  if (version.counter > kCounter) {
    return fail(kCounterFromTheFuture,
                "Received a topology version with counter: " + std::to_string(version.counter) +
                    " which is greater than the server topology version counter: " +
                    std::to_string(kCounter));
  }
  Client& client = call.client();
  const auto now = steady_clock::now();
  if (!client.hello_awaits_until()) {
    client.set_hello_awaits_until(now + milliseconds(std::min(*patience, kLongestMilliseconds)));
  }
  if (now < *client.hello_awaits_until()) {
    call.defer(*client.hello_awaits_until(), Deferral::Wakes::kByTime);
  } else {
    client.set_hello_awaits_until(std::nullopt);
  }
  return {};
}

void append_topology_version(Call& call, bson::Builder& reply) {
  reply.open_document("topologyVersion").append("processId", call.state().process_id());
  reply.append("counter", kCounter).close();
}

}  // namespace gridmount::wire
