// The interface of engine/store.h over a MongoDB deployment, by libmongoc: a standalone server
// (ours included), a replica set or a sharded cluster.
//
// Differences from a local store, which capabilities() tells:
// M1. A Snapshot is not a snapshot: each read sees the newest contents. It holds one connection,
//     and all of its reads go to one server. Its cursors read batches, so what they return may be
//     older than the newest contents. pause() invalidates the views of documents. Nobody ever waits
//     for a snapshot.
// M2. A Transaction is a transaction of the deployment if the deployment has transactions (replica
//     sets, sharded clusters). Two transactions that write to one document conflict, and every
//     error of the server ends its transaction. With ConnectOptions::queues_transactions the
//     transactions of this store wait for each other, so they do not conflict. Short transactions
//     (TransactionKind::kShort) are an exception: they run at the same time, and can conflict with
//     each other. commit() is durable: it uses write concern majority with journaling, and is
//     repeated while its result is unknown. If the deployment has no transactions, each write
//     happens at once, in the order of the calls, and stays even if a later write fails or commit()
//     is not called. So a caller that writes several documents must order them such that the store
//     is consistent after each write.
// M3. Changes to collections and indexes, and the writes of $out and $merge, happen at once,
//     outside of the transaction. They fail with OperationNotSupportedInTransaction if the
//     transaction has used the collection, because they would wait for its end. stats(), indexes(),
//     explain() and the like do not see what the transaction has written.
// M4. With FindOptions::one_at_a_time a document is valid until the next one is read. So is the
//     result of an aggregation. Any other document is valid as long as the Snapshot, or until
//     pause(), and occupies memory for as long.
// M5. A change stream has a connection of its own. It leaves out the transactions that began in this
//     store. Without transactions there are no change streams.
// M6. Observers of reads and writes are never called. Limits of memory are the server's.
//
// Errors keep the server's code, message, details and labels (engine/error_labels.h). If a server
// cannot be reached, the error is HostUnreachable (6) and names the address.
//
// Thread-safety: as engine/store.h says. In addition, a Transaction may move from thread to thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::mongo {

struct ConnectOptions {
  std::string uri;          // "mongodb://...", with all options, as drivers accept it
  std::string application;  // the client's name in the server's log
  // How long a call waits for a server, unless the URI has the option serverSelectionTimeoutMS.
  std::chrono::milliseconds server_timeout{30'000};
  // How long a command waits for its answer, unless the URI has the option socketTimeoutMS. Zero:
  // as long as libmongoc does by default, which is five minutes.
  std::chrono::milliseconds answer_timeout{0};
  // Transactions of this store wait for each other, so that only those of other processes, and
  // short ones, conflict with them. A thread must then not begin a second transaction while it
  // holds one.
  bool queues_transactions = false;
  // Snapshots read from the members that the URI's readPreference allows. Otherwise they read from
  // the primary, as transactions always do.
  bool reads_by_preference = false;
  uint32_t connections_max = 100;  // Snapshots and Transactions at one time; more have to wait
};

// Returns the database that a connection string names, or an empty string if it names none. Fails
// with FailedToParse for a malformed URI.
Result<std::string> database_of(const std::string& uri);

// Returns, as `name=value`, the options of a connection string that set a read concern level, or a
// read preference or write concern other than the store's own. The store reads from the primary,
// and commits with write concern majority and journaling. So these options have no effect, except
// for readPreference with ConnectOptions::reads_by_preference. Fails as database_of() does.
Result<std::vector<std::string>> options_without_effect(const std::string& uri);

// Connects, and verifies that the deployment answers and that authentication succeeds. Fails with
// FailedToParse for a malformed URI.
Result<std::unique_ptr<engine::Store>> connect(const ConnectOptions& options);

}  // namespace gridmount::mongo
