// The capabilities of a store. A caller that needs one of them must check for it first. A store
// without the capability does what the comment of the field says, often without an error.
//
// The defaults describe a store that keeps all rules of engine/store.h and that no other process
// changes.
//
// Thread-safety: a value.
#pragma once

#include <chrono>

namespace gridmount::engine {

struct Capabilities {
  // No other process changes the store. So data that this process has read stays valid until this
  // process changes the data.
  bool exclusive = true;
  // A Snapshot shows the contents of one point in time (S1). Otherwise each read shows the newest
  // contents.
  bool stable_snapshots = true;
  // A Transaction that is not committed has no effect, and nobody else sees its writes before
  // commit() (S2). Otherwise each write takes effect at once and is never undone.
  bool transactions = true;
  // A transaction can continue after a failed write (S3). Otherwise each error that the server
  // reports ends the transaction: later calls, including commit(), fail with NoSuchTransaction, and
  // none of the transaction's writes take effect.
  bool continues_after_failed_writes = true;
  // Transactions run one after another (S2). Otherwise two transactions that write to one document
  // conflict: one of them fails with WriteConflict, and its caller must begin it again
  // (engine/error_labels.h).
  bool one_writer = true;
  // Changes to collections and indexes, and the writes of $out and $merge, are part of the
  // transaction. Otherwise they take effect at once, and fail with
  // OperationNotSupportedInTransaction if the transaction has already used the collection. $out,
  // $merge and drop_database() fail in the same way if the transaction has used any collection of
  // the database.
  bool transactional_catalog = true;
  // A cursor reads its next document from the store when the caller asks for it. Otherwise it reads
  // batches of documents ahead. The cursor then returns the documents of a batch even if the
  // transaction has since removed them or dropped their collection, or if this happened while the
  // snapshot was paused.
  bool live_cursors = true;
  // ReadObserver and WriteObserver are called. Otherwise they are not.
  bool observers = true;
  // FindOptions::sort_bytes_max and AggregateOptions::memory_bytes_max hold. Otherwise the server's
  // own limits do.
  bool memory_limits = true;
  // Store::watch() reports the changes that others make. Otherwise it fails with
  // CommandNotSupported.
  bool change_streams = false;
  // How long a caller should repeat an operation that fails with a transient error
  // (engine/transient_error.h). Zero: the store has no transient errors.
  std::chrono::milliseconds retry_for{0};
};

}  // namespace gridmount::engine
