// The code of an error that only the opening of a store reports. error.h has the codes that
// several layers use.
//
// Thread-safety: constants.
#pragma once

#include "engine/base/error.h"

namespace gridmount {

// The file system cannot hold a store: it cannot map files into memory, or a mapping of a file does
// not always show what was last written to the file (map_coherence.h).
inline constexpr ErrorCode kFileSystemUnfit{90010};

}  // namespace gridmount
