// Computes the MD5 of files' contents. With --checksum, the commands sync_put and sync_get compare
// these digests.
//
// Thread-safe if each call has its own file or stream.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridfiles/local_file.h"

namespace gridmount::tools {

// Reads the file or the stream to its end, and returns the MD5 as 32 hexadecimal digits. For a
// local file, adds the bytes to the progress line. Fails with kIllegalOperation if OpenSSL refuses
// MD5, with kInterrupted after a signal, and with the errors of reading.
Result<std::string> md5_of(LocalInput& input, Progress& progress);
Result<std::string> md5_of(gridfs::DownloadStream& stream);

}  // namespace gridmount::tools
