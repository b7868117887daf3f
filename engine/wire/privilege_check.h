// Checks whether a client has the privileges that its command needs: the privileges that are known
// before the command runs, the ones that become known while it runs, and the ones that its
// pipelines need. AccessControl (engine/wire/auth/access_control.h) decides which privileges a
// client has.
//
// Not thread-safe: must be used by the thread that runs the call.
#pragma once

#include <string_view>
#include <vector>

#include "engine/aggregation/access.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Fails with Unauthorized unless the call's client has all privileges that the command needs
// according to its request. Succeeds for commands with Command::before_login, and for clients for
// which Authorizer::applies_to() returns false.
Status check_privileges(Call& call);

// Like check_privileges(), but for one privilege that becomes known only while the command runs.
Status check_privilege(Call& call, const Privilege& privilege);

// Checks the privileges that the command's pipelines need.
class PipelineAccess final : public aggregation::Access {
 public:
  // `call` must outlive this object.
  explicit PipelineAccess(Call& call) : call_(call) {}

  // Fail with Unauthorized (13) if the client lacks a privilege for this access. Pass each
  // privilege that the client has to Call::record_reached(), so that a getMore of the cursor checks
  // the privilege again.
  Status may_read(const engine::Namespace& ns) override;
  Status may_write(const engine::Namespace& ns, aggregation::WriteKind kind,
                   bool bypass_validation) override;

 private:
  Status need(const engine::Namespace& ns, std::string_view action);

  Call& call_;
};

}  // namespace gridmount::wire
