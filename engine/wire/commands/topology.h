// hello's topologyVersion: by it a client tells whether it has missed a change of what the server
// is, and waits for one. A server that is no member of a replica set never changes; only its
// process does. Source: MongoDB's drivers' specification, "Server Monitoring" (streaming protocol).
#pragma once

#include "engine/bson/builder.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

// Postpones a hello that awaits a change from the version it names, for its maxAwaitTimeMS. Errors
// as servers': one of the two fields without the other (31368), a counter below zero (31372) or
// beyond ours (51764), a negative time (31373).
Status await_topology(Call& call);

void append_topology_version(Call& call, bson::Builder& reply);

}  // namespace gridmount::wire
