// Converts LMDB's error codes to Errors, by one table.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::local {

// Our own codes. No code of LMDB and no errno has these values.
// LMDB's map does not show the last commit (commit_sequence.h).
inline constexpr int kLmdbStale = -30701;
// The transaction would make the store larger than its size limit.
inline constexpr int kOverSizeLimit = -30702;

// Returns the Error for `code`, which is an errno, one of the codes above, or the result of an mdb_
// function. The message begins with `what`, which names the action and its object ("writing to the
// store").
Error lmdb_error(int code, std::string_view what);

}  // namespace gridmount::local
