// The md5 of contents, which sync compares.
//
// Thread-safe: functions without state.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridfiles/local_file.h"

namespace gridmount::tools {

// Reads to the end, counts the bytes of a local file on the progress line, and returns the digest
// as 32 hexadecimal digits. Fails with kIllegalOperation if OpenSSL refuses MD5, with kInterrupted
// after a signal, and with the errors of reading.
Result<std::string> md5_of(LocalInput& input, Progress& progress);
Result<std::string> md5_of(gridfs::DownloadStream& stream);

}  // namespace gridmount::tools
