// Decides which errors of a deployment are transient: another attempt may succeed.
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/error_labels.h"

namespace gridmount::engine {

// Returns true if no server has answered. The attempt has then already waited for a server.
inline bool is_unreachable(const Error& error) {
  switch (static_cast<int32_t>(error.code())) {
    case 6:     // HostUnreachable
    case 7:     // HostNotFound
    case 89:    // NetworkTimeout
    case 9001:  // SocketException
      return true;
    default:
      return false;
  }
}

// Returns true if the caller should repeat a failed transaction or a failed read from its
// beginning: it conflicted with another transaction, or no server could run it. Sources: the
// drivers' specifications "Transactions" (TransientTransactionError) and "Retryable Reads".
inline bool is_transient(const Error& error) {
  // The transaction may have been committed, so it must not be repeated.
  if (has_error_label(error, kUnknownTransactionCommitResult)) return false;
  if (has_error_label(error, kTransientTransactionError) || is_unreachable(error)) return true;
  switch (static_cast<int32_t>(error.code())) {
    case 24:     // LockTimeout
    case 46:     // LockBusy
    case 91:     // ShutdownInProgress
    case 112:    // WriteConflict
    case 117:    // ConflictingOperationInProgress
    case 189:    // PrimarySteppedDown
    case 225:    // TransactionTooOld
    case 246:    // SnapshotUnavailable
    case 251:    // NoSuchTransaction
    case 262:    // ExceededTimeLimit
    case 10107:  // NotWritablePrimary
    case 11600:  // InterruptedAtShutdown
    case 11602:  // InterruptedDueToReplStateChange
    case 13435:  // NotPrimaryNoSecondaryOk
    case 13436:  // NotPrimaryOrSecondary
      return true;
    default:
      return false;
  }
}

// Returns true if a change stream has failed, or could not be opened, with an error after which the
// caller should open it again with the same resume token. Source: drivers' specification "Change
// Streams", "Resumable Error".
inline bool is_resumable(const Error& error) {
  if (is_transient(error) || has_error_label(error, kResumableChangeStreamError)) return true;
  switch (static_cast<int32_t>(error.code())) {
    case 43:     // CursorNotFound
    case 63:     // StaleShardVersion
    case 133:    // FailedToSatisfyReadPreference
    case 150:    // StaleEpoch
    case 234:    // RetryChangeStream
    case 13388:  // StaleConfig
      return true;
    default:
      return false;
  }
}

}  // namespace gridmount::engine
