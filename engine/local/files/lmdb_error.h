// The one table from LMDB's error numbers to Errors.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::local {

// Beside LMDB's codes, none of them, nor an errno: its map does not show what was committed last
// (commit_sequence.h); the transaction would make the store larger than its size limit.
inline constexpr int kLmdbStale = -30701;
inline constexpr int kOverSizeLimit = -30702;

// `code` is what an mdb_ function returned, or an errno; `what` says what was being done and to
// what ("writing to the store"), and begins the message.
Error lmdb_error(int code, std::string_view what);

}  // namespace gridmount::local
