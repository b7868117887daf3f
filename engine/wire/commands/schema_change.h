// A command that changes collections or indexes: one transaction, and as durable as the command's
// write concern asks for.
//
// Thread-safety: a function without state.
#pragma once

#include <functional>

#include "engine/wire/call.h"

namespace gridmount::wire {

// Commits if `change` succeeds; else nothing has happened.
Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change);

}  // namespace gridmount::wire
