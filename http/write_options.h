// How clients may change what a site shows.
//
// A plain value, so thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gridfs/namespace/path_namespace.h"

namespace gridmount::http {

struct WriteOptions {
  int32_t chunk_bytes = gridfs::kDefaultChunkBytes;  // of new files
  bool md5 = true;
  // How nodes without POSIX fields are shown, and how many earlier contents a replaced file keeps.
  gridfs::NamespaceOptions paths;
  uint64_t upload_bytes_max = 0;  // longer bodies get the status 413; 0: no limit
  size_t uploads_max = 16;        // at a time; further ones get the status 503
  // Copies, and moves and removals of directories, at a time. Each occupies a thread of the server,
  // so there must be more threads. Further ones get the status 503.
  size_t tree_changes_max = 2;
};

}  // namespace gridmount::http
