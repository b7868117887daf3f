// The interface of engine/store.h over a MongoDB deployment, by libmongoc: a standalone server
// (ours included), a replica set or a sharded cluster.
//
// What differs from a store on this machine:
//  M1. A Snapshot is no snapshot: each read sees the newest contents. It holds one connection, on
//      which all of its reads go to one server.
//  M2. A Transaction is the deployment's where it has them (replica sets, sharded clusters).
//      Elsewhere each write happens at once, in the order of the calls, and what has been done
//      stays if a later write fails or commit() is not called: whoever writes several documents
//      writes them in an order in which each prefix is sound.
//  M3. Changes to collections and indexes happen at once, outside of the transaction.
//  M4. A document that a cursor gives is valid until the cursor reads on; others as long as the
//      Snapshot.
//  M5. Observers of reads are told nothing; writes are watched by nobody.
//
// Errors keep the server's code, message and details. A server that cannot be reached is
// HostUnreachable (6), naming the address.
//
// Thread-safety: as engine/store.h says; a Transaction may move from thread to thread.
#pragma once

#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::mongo {

struct ConnectOptions {
  std::string uri;                 // "mongodb://..." with everything in it, as drivers take it
  std::string application;         // what the server's log calls the client
  uint32_t connections_max = 100;  // Snapshots and Transactions at one time; more wait
};

// Connects to see that the deployment answers and that a log-in succeeds. FailedToParse for a URI
// that is none.
Result<std::unique_ptr<engine::Store>> connect(const ConnectOptions& options);

}  // namespace gridmount::mongo
