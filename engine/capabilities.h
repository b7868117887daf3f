// What a store can do. A caller that needs one of these asks for it first: a store without it does
// not fail, but does what the comment says.
//
// The defaults describe a store that keeps all rules of engine/store.h and that no other process
// changes.
//
// Thread-safety: a value.
#pragma once

#include <chrono>

namespace gridmount::engine {

struct Capabilities {
  // No other process changes the store. So what this process has read stays true until this process
  // changes it.
  bool exclusive = true;
  // A Snapshot shows the contents of one moment (S1). Otherwise each read shows the newest
  // contents.
  bool stable_snapshots = true;
  // A Transaction that is not committed leaves nothing, and nobody else sees its writes before
  // commit() (S2). Otherwise each write happens at once and stays.
  bool transactions = true;
  // A transaction can continue after a failed write (S3). Otherwise each error that the server
  // reports ends it: what follows fails with NoSuchTransaction, commit() too, and none of its
  // writes have happened.
  bool continues_after_failed_writes = true;
  // Transactions take turns (S2). Otherwise two that write to one document conflict: one of them
  // fails with WriteConflict and has to begin again (engine/error_labels.h).
  bool one_writer = true;
  // Changes to collections and indexes, and the writes of $out and $merge, are part of the
  // transaction. Otherwise they happen at once, and fail with OperationNotSupportedInTransaction if
  // the transaction has used the collection before.
  bool transactional_catalog = true;
  // A cursor reads its next document from the store when the caller asks for it. Otherwise it reads
  // batches of documents ahead. It then returns a document of a batch even if the document was
  // removed or its collection was dropped after the batch was read, by the transaction or while the
  // snapshot was paused.
  bool live_cursors = true;
  // ReadObserver and WriteObserver are called. Otherwise they are not.
  bool observers = true;
  // FindOptions::sort_bytes_max and AggregateOptions::memory_bytes_max hold. Otherwise the server's
  // own limits do.
  bool memory_limits = true;
  // Store::watch() reports what others change. Otherwise it fails with CommandNotSupported.
  bool change_streams = false;
  // How long a caller goes on repeating an operation that fails with a transient error
  // (engine/transient_error.h). Zero: there are no such errors.
  std::chrono::milliseconds retry_for{0};
};

}  // namespace gridmount::engine
