// What the first message of a client may hold of its log-in.
//
// Thread-safety: functions without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// hello's saslSupportedMechs and speculativeAuthenticate. A log-in that cannot begin is left out of
// the reply, and the client begins it with saslStart.
Status append_log_in(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
