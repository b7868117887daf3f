// The one table from LMDB's error numbers to Errors.
#pragma once

#include <string_view>

#include "engine/error.h"

namespace gridmount::local {

// Beside LMDB's codes: its map does not show what was committed last (commit_sequence.h). None of
// them, nor an errno.
inline constexpr int kLmdbStale = -30701;

// `code` is what an mdb_ function returned, or an errno; `what` says what was being done and to
// what ("writing to the store"), and begins the message.
Error lmdb_error(int code, std::string_view what);

}  // namespace gridmount::local
