// A command that changes collections or indexes: one transaction, and as durable as the command's
// write concern asks for. What it may make, and of what.
//
// Thread-safety: functions without state.
#pragma once

#include <functional>
#include <string>

#include "engine/store.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Commits if `change` succeeds; else nothing has happened.
Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change);

// CommandNotSupportedOnView if it is a view; what is not there is none.
Status check_no_view(engine::Database& database, engine::Snapshot& snapshot,
                     const engine::Namespace& ns);

// InvalidNamespace for names beginning with "system." but those that clients may make and write to.
Status check_system_name(const engine::Namespace& ns);
// The same, and for system.profile, which the server alone writes to: for inserts and updates.
Status check_writable_name(const engine::Namespace& ns);

// IllegalOperation (20) for what holds the users, and for what says that there have been some; the
// message is `refusal` and the name.
Status check_not_of_users(const engine::Namespace& ns, const std::string& refusal);

}  // namespace gridmount::wire
