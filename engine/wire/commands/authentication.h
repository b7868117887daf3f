// The beginning of a log-in that a client may send with its first hello.
//
// Thread-safe: functions without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Handles hello's arguments saslSupportedMechs and speculativeAuthenticate. Appends what they ask
// for to the reply. If the log-in cannot begin, the reply has no speculativeAuthenticate, and the
// client begins the log-in with saslStart. Fails with BadValue if saslSupportedMechs is not
// "database.user", and with the errors of Arguments if one of the two has the wrong type.
Status append_log_in(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
