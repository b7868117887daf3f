// The field topologyVersion of hello. A client compares versions to detect that it has missed a
// change of the server's state, and can wait for the next change. The state of a standalone server
// never changes, but each process has a different version.
// Source: MongoDB's drivers' specification, "Server Monitoring" (streaming protocol).
//
// Thread-safe: functions without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// If the field topologyVersion of the hello is this process's version, defers the call until the
// hello's maxAwaitTimeMS has passed, at most for 24 hours. Fails as servers do:
// - for only one of the fields topologyVersion and maxAwaitTimeMS (31368);
// - for a version whose counter is negative (31372);
// - for a version of this process whose counter is greater than the present counter (51764);
// - for a negative maxAwaitTimeMS (31373);
// - for a wrong type of one of the two fields, and for a missing, unknown or wrong field of
//   topologyVersion (the errors of Arguments).
Status await_topology(Call& call);

void append_topology_version(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
