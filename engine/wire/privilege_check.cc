#include "engine/wire/privilege_check.h"

#include <algorithm>
#include <string>

namespace gridmount::wire {

Status check_privileges(Call& call) {
  const AccessControl& access = call.state().access();
  if (call.command().before_login || !access.applies_to(call.client())) return {};
  return access.check(call.client(), call.command(), privileges_of(call.command(), call.request()));
}

Status check_privilege(Call& call, const Privilege& privilege) {
  const AccessControl& access = call.state().access();
  if (!access.applies_to(call.client())) return {};
  return access.check(call.client(), call.command(), {privilege});
}

Status PipelineAccess::need(const engine::Namespace& ns, std::string_view action) {
  const Privilege privilege{Privilege::Resource::kCollection, action, ns.database, ns.collection};
  const std::vector<Privilege>& known = call_.reached();
  // A $lookup into a view calls this function again for each document.
  if (std::find(known.begin(), known.end(), privilege) != known.end()) return {};
  GM_TRY(check_privilege(call_, privilege));
  call_.record_reached(privilege);
  return {};
}

Status PipelineAccess::may_read(const engine::Namespace& ns) {
  return need(ns, "find");
}

Status PipelineAccess::may_write(const engine::Namespace& ns, aggregation::WriteKind kind,
                                 bool bypass_validation) {
  GM_TRY(need(ns, "insert"));
  GM_TRY(need(ns, kind == aggregation::WriteKind::kReplace ? "remove" : "update"));
  if (bypass_validation) GM_TRY(need(ns, "bypassDocumentValidation"));
  return {};
}

}  // namespace gridmount::wire
