// The options for the changes that the clients of a site make: the form of new files, and limits.
//
// A plain value, so thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gridfs/namespace/path_namespace.h"

namespace gridmount::http {

struct WriteOptions {
  int32_t chunk_bytes = gridfs::kDefaultChunkBytes;  // the chunkSize of new files
  bool md5 = true;                                   // new files get an md5
  // These options say how nodes without POSIX fields are shown, and how many earlier contents a
  // replaced file keeps.
  gridfs::NamespaceOptions paths;
  uint64_t upload_bytes_max = 0;  // a longer body gets the status 413; 0: no limit
  size_t uploads_max = 16;        // uploads at a time; a further one gets the status 503
  // How many of these run at a time: copies of files and directories, moves and removals of
  // directories, and moves of files that replace a directory. Each occupies a thread of the server,
  // so the server must have more threads than this. A further one gets the status 503.
  size_t tree_changes_max = 2;
};

}  // namespace gridmount::http
