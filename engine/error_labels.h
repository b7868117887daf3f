// The labels that a server gives to errors. The labels say how the caller may continue. Source:
// MongoDB drivers' specification "Transactions", section "Error labels".
//
// Thread-safety: the functions are pure.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::engine {

// The transaction has ended without effect. The caller may begin it again.
inline constexpr std::string_view kTransientTransactionError = "TransientTransactionError";
// commit() does not know whether the transaction was committed.
inline constexpr std::string_view kUnknownTransactionCommitResult =
    "UnknownTransactionCommitResult";

// The change stream has failed. A new stream that is opened with the resume token of the failed
// stream may continue after the last event of the failed stream. Source: drivers' specification
// "Change Streams".
inline constexpr std::string_view kResumableChangeStreamError = "ResumableChangeStreamError";

// Returns whether the field `errorLabels` of the error's details has the label. Errors of a local
// store have no labels.
bool has_error_label(const Error& error, std::string_view label);

}  // namespace gridmount::engine
