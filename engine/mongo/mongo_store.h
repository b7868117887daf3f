// Implements engine/store.h over a MongoDB deployment, with libmongoc. The deployment is a
// standalone server (`gridstore serve` is one too), a replica set or a sharded cluster.
//
// These are the differences from a local store. Store::capabilities() reports them.
// M1. A Snapshot does not keep one state of the store: each read sees the newest contents. A
//     Snapshot has one connection, and all of its reads go to one server. Its cursors read batches,
//     so the documents that they return may be older than the newest contents. pause() invalidates
//     the views of documents. No thread ever waits for a snapshot.
// M2. A Transaction is a transaction of the deployment if the deployment has transactions (replica
//     sets, sharded clusters). If two transactions write to one document, they conflict. Every
//     error of the server ends the transaction that it occurs in. With
//     ConnectOptions::queues_transactions the transactions of this store wait for each other, so
//     they do not conflict. Short transactions (TransactionKind::kShort) are an exception: they run
//     at the same time, and can conflict with each other. commit() is always durable: it uses write
//     concern majority with journaling. The store repeats the commit while its result is unknown.
//     If the deployment has no transactions, each write takes effect immediately, and is not undone
//     if a later write fails or commit() is not called. commit() then does nothing, or with
//     Durability::kDurable syncs the server's journal. So a caller that writes several documents
//     must choose their order such that the store is consistent after each write.
// M3. Changes to collections and indexes, and the writes of $out and $merge, take effect
//     immediately, outside of the transaction. They fail with OperationNotSupportedInTransaction if
//     the transaction has used the collection, because they would wait for the transaction's end.
//     drop_database() fails with this error if the transaction has used any collection of the
//     database. $out and $merge fail with it if the transaction has used any collection of the
//     database that they read or of the database that they write. databases(), collections(),
//     collection_info(), exists(), validate(), stats(), index_stats(), indexes() and the functions
//     that explain do not see the writes of the transaction.
// M4. A document of a find with FindOptions::one_at_a_time, or of an aggregation, is valid until
//     the cursor reads the next one. Any other document is valid until pause() or the end of the
//     Snapshot, and needs memory until then.
// M5. A change stream has its own connection. It leaves out the changes of transactions that this
//     store has begun. A deployment without transactions has no change streams.
// M6. Observers of reads and writes are never called. The server's memory limits apply.
//
// Errors have the server's code, message, details and labels (engine/error_labels.h). If no server
// can be reached or the connection is lost, the error is HostUnreachable (6), and the message names
// the address. If the server refuses the user or the password, the error is AuthenticationFailed
// (18).
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
  std::string uri;          // "mongodb://...", with any options that drivers accept
  std::string application;  // the client's name in the server's log
  // How long a call waits for a server, unless the URI has the option serverSelectionTimeoutMS.
  // Also how long begin() waits in the queue (M2), how long commit() is repeated (but at most
  // kCommitRetryMax, connection.h), and Capabilities::retry_for.
  std::chrono::milliseconds server_timeout{30'000};
  // How long a command waits for its reply, unless the URI has the option socketTimeoutMS. Zero:
  // libmongoc's default, which is five minutes.
  std::chrono::milliseconds answer_timeout{0};
  // Transactions of this store wait for each other (M2), so that they conflict only with short
  // transactions and with transactions of other processes. A thread must then not begin a second
  // transaction while it has one.
  bool queues_transactions = false;
  // If true, snapshots read from the members that the URI's readPreference allows. If false,
  // snapshots read from the primary, as transactions always do.
  bool reads_by_preference = false;
  uint32_t connections_max = 100;  // the limit of Snapshots and Transactions at one time; further
                                   // ones wait
};

// Returns the database that a connection string names, or an empty string if it names none. Fails
// with FailedToParse for a malformed URI.
Result<std::string> database_of(const std::string& uri);

// Returns the options of a connection string that have no effect, as `name=value`: those that set a
// read concern level, or a read preference or write concern that the store does not use. The store
// reads from the primary, and commits with write concern majority and journaling. The result also
// has readPreference, although this option has an effect with ConnectOptions::reads_by_preference.
// Fails as database_of() does.
Result<std::vector<std::string>> options_without_effect(const std::string& uri);

// Connects, and verifies that the deployment answers and that authentication succeeds. Fails with
// FailedToParse for a malformed URI, with HostUnreachable if no server answers in time, and with
// AuthenticationFailed if the server refuses the user or the password.
Result<std::unique_ptr<engine::Store>> connect(const ConnectOptions& options);

}  // namespace gridmount::mongo
