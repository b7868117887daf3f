// The kernel's cache of the mount. After external changes, the stale entries of this cache must be
// invalidated. FUSE's request FORGET has another purpose: with it, the kernel gives up lookups
// (inode_table.h).
//
// Implementations are thread-safe. The caller must not hold a lock that an operation of the file
// system takes, because the kernel waits for operations in progress before it invalidates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

class KernelCache {
 public:
  virtual ~KernelCache() = default;
  // Drops the attributes and content of a file, or the listing of a directory. The kernel first
  // writes back the file's dirty data.
  virtual void invalidate_inode(uint64_t ino) = 0;
  // Drops what the kernel knows of a name in a directory: the node to which the name leads, or that
  // the name does not exist. If the name leads to a directory, a process that has this directory as
  // its working directory cannot find out the path of the directory until somebody looks the name
  // up.
  virtual void invalidate_entry(uint64_t parent, const std::string& name) = 0;
  // Makes the kernel look a name up before the kernel uses the name again. If the name still leads
  // to the same node, everything below the name stays in the cache, and processes that have this
  // node as their working directory notice nothing. Before Linux 6.2, this function does the same
  // as invalidate_entry().
  virtual void expire_entry(uint64_t parent, const std::string& name) = 0;
};

// A directory of which every name may be out of date. A bucket may have too many names to keep them
// in memory.
struct StaleListing {
  uint64_t parent = 0;
  std::shared_ptr<gridfs::PathNamespace> paths;  // outlives the stream
  std::unique_ptr<gridfs::DirectoryStream> names;
};

// What may be out of date in the kernel's cache. Not thread-safe.
struct StaleEntries {
  std::set<uint64_t> nodes;
  std::set<std::pair<uint64_t, std::string>> names;  // ino of the directory, name
  // The names of directories that may still exist. invalidate() calls expire_entry() for them.
  std::set<std::pair<uint64_t, std::string>> expired;
  std::vector<StaleListing> listings;

  // Invalidates the names first, so that nobody finds an old node by its name any more. Reads the
  // listings to their end or to their first error, so this function can be called only once.
  void invalidate(KernelCache& cache) {
    for (const auto& [parent, name] : names) cache.invalidate_entry(parent, name);
    for (const StaleListing& listing : listings) {
      while (true) {
        const Result<std::optional<gridfs::DirectoryEntry>> entry = listing.names->next();
        if (!entry || !*entry) break;
        cache.invalidate_entry(listing.parent, (*entry)->name);
      }
    }
    for (const auto& [parent, name] : expired) cache.expire_entry(parent, name);
    for (const uint64_t ino : nodes) cache.invalidate_inode(ino);
  }
};

}  // namespace gridmount::fuse
