// Commands that change collections or indexes run in one transaction, as durable as their write
// concern asks for. This file also decides which collections clients may create and change.
//
// Thread-safe: functions without state.
#pragma once

#include <functional>
#include <string>

#include "engine/store.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Runs `change` in a transaction. Commits if it succeeds, otherwise leaves the store unchanged.
Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change);

// Fails with CommandNotSupportedOnView if the namespace is a view. A collection that does not exist
// passes.
Status check_no_view(engine::Database& database, engine::Snapshot& snapshot,
                     const engine::Namespace& ns);

// Fails with InvalidNamespace for names that begin with "system.", except for those that clients
// may create and write to.
Status check_system_name(const engine::Namespace& ns);
// For inserts and updates. Also refuses system.profile, to which only the server writes.
Status check_writable_name(const engine::Namespace& ns);

// Fails with IllegalOperation (20) for the collections that hold the users and the mark that users
// have existed. The message consists of `refusal` and the name.
Status check_not_of_users(const engine::Namespace& ns, const std::string& refusal);

}  // namespace gridmount::wire
