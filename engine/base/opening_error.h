// Codes of errors that only the opening of a store reports. error.h has all other codes.
//
// Thread-safety: constants.
#pragma once

#include "engine/base/error.h"

namespace gridmount {

// The file system cannot hold a store: its mappings do not show what is written to its files.
inline constexpr ErrorCode kFileSystemUnfit{90010};

}  // namespace gridmount
