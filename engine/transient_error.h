// Errors of a deployment that another attempt may not meet.
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/error_labels.h"

namespace gridmount::engine {

// Returns true if no server has answered: an attempt that failed so has waited for one.
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

// Returns true if a failed transaction, or a failed read, is to be tried again from its beginning:
// it met another transaction, or no server that takes the call. Sources: the drivers'
// specifications "Transactions" (TransientTransactionError) and "Retryable Reads".
inline bool is_transient(const Error& error) {
  // What was committed must not be done again.
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

// Returns true if a change stream that has failed, or could not be opened, is to be opened again
// with the same resume token. Source: drivers' specification "Change Streams", "Resumable Error".
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
