// Checks the rights of a command's client for the pipelines that the command runs.
//
// Not thread-safe: used by the thread that runs the call.
#pragma once

#include <string_view>
#include <vector>

#include "engine/aggregation/access.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

class CallAccess final : public aggregation::Access {
 public:
  // `call` must outlive this object.
  explicit CallAccess(Call& call) : call_(call) {}

  // Fail with Unauthorized (13). A privilege that was granted is recorded with
  // Call::record_reached(), so that a getMore on the resulting cursor checks it again.
  Status may_read(const engine::Namespace& ns) override;
  Status may_write(const engine::Namespace& ns, aggregation::WriteKind kind,
                   bool bypass_validation) override;

 private:
  Status need(const engine::Namespace& ns, std::string_view action);

  Call& call_;
};

// Fails with Unauthorized unless the call's client has the privilege. For privileges that become
// known only while the command runs.
Status check_privilege(Call& call, const Privilege& privilege);

}  // namespace gridmount::wire
