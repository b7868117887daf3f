// Checks whether a command's client has the privileges that the command needs: those known before
// it runs, those that become known while it runs, and those of its pipelines. AccessControl
// (engine/wire/auth/access_control.h) knows which privileges a client has.
//
// Not thread-safe: used by the thread that runs the call.
#pragma once

#include <string_view>
#include <vector>

#include "engine/aggregation/access.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Fails with Unauthorized unless the call's client has all privileges that the command needs
// according to its request.
Status check_privileges(Call& call);

// Like check_privileges(), for one privilege that becomes known only while the command runs.
Status check_privilege(Call& call, const Privilege& privilege);

// The check of the pipelines that the command runs.
class PipelineAccess final : public aggregation::Access {
 public:
  // `call` must outlive this object.
  explicit PipelineAccess(Call& call) : call_(call) {}

  // Fail with Unauthorized (13). A privilege that was granted is recorded with
  // Call::record_reached(), so that a getMore on the resulting cursor checks it again.
  Status may_read(const engine::Namespace& ns) override;
  Status may_write(const engine::Namespace& ns, aggregation::WriteKind kind,
                   bool bypass_validation) override;

 private:
  Status need(const engine::Namespace& ns, std::string_view action);

  Call& call_;
};

}  // namespace gridmount::wire
