// The rights of a command's client, for the pipelines that it runs.
//
// Thread-safety: of the call's thread.
#pragma once

#include <string_view>
#include <vector>

#include "engine/aggregation/access.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

class CallAccess final : public aggregation::Access {
 public:
  // `call` outlives it.
  explicit CallAccess(Call& call) : call_(call) {}

  // Unauthorized (13). What is allowed is remembered with the call, so that who reads on with a
  // cursor is asked for it as well.
  Status may_read(const engine::Namespace& ns) override;
  Status may_write(const engine::Namespace& ns, aggregation::WriteKind kind,
                   bool bypass_validation) override;

 private:
  Status need(const engine::Namespace& ns, std::string_view action);

  Call& call_;
};

// Unauthorized unless the client of the call has the privilege; for what shows while it runs.
Status check_privilege(Call& call, const Privilege& privilege);

}  // namespace gridmount::wire
