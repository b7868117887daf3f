// The beginning of a log-in that a client may send with its first hello.
//
// Thread-safe: functions without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Handles hello's arguments saslSupportedMechs and speculativeAuthenticate. Appends the user's
// mechanisms and the first reply of the log-in. If the log-in cannot begin, the reply has no
// speculativeAuthenticate, and the client begins the log-in with saslStart. Fails with BadValue if
// saslSupportedMechs is not "database.user", with the errors of Arguments if one of the two has the
// wrong type, and if the users cannot be read for saslSupportedMechs.
Status append_log_in(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
