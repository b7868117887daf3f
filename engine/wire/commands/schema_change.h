// Runs commands that change collections or indexes. Each command is one transaction, and the commit
// is as durable as the write concern demands. This file also decides which collections clients may
// create and change.
//
// Thread-safe: functions without state.
#pragma once

#include <functional>
#include <string>

#include "engine/store.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Runs `change` in a transaction. If `change` succeeds, commits the transaction. Otherwise returns
// its error and leaves the store unchanged.
Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change);

// Fails with CommandNotSupportedOnView if the namespace is a view. Succeeds if nothing has this
// name.
Status check_no_view(engine::Database& database, engine::Snapshot& snapshot,
                     const engine::Namespace& ns);

// Fails with InvalidNamespace for names that begin with "system.", except the names of system
// collections that clients may create or change.
Status check_system_name(const engine::Namespace& ns);
// Like check_system_name(), for inserts and updates: also refuses system.profile, to which only the
// server writes.
Status check_writable_name(const engine::Namespace& ns);

// Fails with IllegalOperation (20) for admin.system.users and admin.system.version, which have the
// users and the mark that users have existed (UserDirectory). The message is `refusal`, followed by
// the namespace.
Status check_not_of_users(const engine::Namespace& ns, const std::string& refusal);

}  // namespace gridmount::wire
