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

// If the hello names this server's version, defers it until its maxAwaitTimeMS has passed. Fails as
// servers do: for one of the two fields without the other (31368), for a counter that is negative
// (31372) or greater than the server's (51764), and for a negative time (31373).
Status await_topology(Call& call);

void append_topology_version(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
