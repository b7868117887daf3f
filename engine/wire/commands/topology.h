// hello's topologyVersion. With it a client detects that it has missed a change of the server's
// state, and waits for the next change. A standalone server never changes its state. A new process
// has a new version.
// Source: MongoDB's drivers' specification, "Server Monitoring" (streaming protocol).
//
// Thread-safe: functions without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Defers a hello that waits for a change from the version it names, for at most its
// maxAwaitTimeMS. Fails as servers do: one of the two fields without the other (31368), a counter
// below zero (31372) or beyond the server's (51764), a negative time (31373).
Status await_topology(Call& call);

void append_topology_version(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
