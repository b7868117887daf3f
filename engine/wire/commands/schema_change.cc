#include "engine/wire/commands/schema_change.h"

namespace gridmount::wire {

Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, call.begin());
  GM_TRY(call.check_interrupt());
  GM_TRY(change(*transaction));
  return call.state().commit(*transaction, call.generic().write_concern.durability);
}

}  // namespace gridmount::wire
