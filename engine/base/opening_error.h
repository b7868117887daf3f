// Codes of what may come of opening a store, beside those of error.h.
#pragma once

#include "engine/base/error.h"

namespace gridmount {

// The file system cannot carry a store: its mappings do not show what is written to its files.
inline constexpr ErrorCode kFileSystemUnfit{90010};

}  // namespace gridmount
