// The kernel's cache of the mount, parts of which must be invalidated after external changes. This
// has nothing to do with FUSE's FORGET, by which the kernel gives up lookups (inode_table.h).
//
// Implementations are thread-safe. The caller must not hold a lock that an operation of the file
// system takes, because the kernel waits for operations in progress.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace gridmount::fuse {

class KernelCache {
 public:
  virtual ~KernelCache() = default;
  // Drops attributes and content, or a directory's listing. Dirty data in the kernel is written
  // back first.
  virtual void invalidate_inode(uint64_t ino) = 0;
  // Drops the node that a name in a directory leads to, or the knowledge that there is none. A
  // process that works in a dropped directory does not know its path until somebody looks it up.
  virtual void invalidate_entry(uint64_t parent, const std::string& name) = 0;
  // Makes the kernel look a name up before it uses it again. If the name still leads to the same
  // node, everything below stays, and processes that work in the directory notice nothing. Before
  // Linux 6.2 it is the same as invalidate_entry().
  virtual void expire_entry(uint64_t parent, const std::string& name) = 0;
};

// What may be out of date in the kernel's cache. A plain value, not thread-safe.
struct StaleEntries {
  std::set<uint64_t> nodes;
  std::set<std::pair<uint64_t, std::string>> names;  // by the ino of the directory
  // Names of directories that may still be there.
  std::set<std::pair<uint64_t, std::string>> expired;

  // Names first, so that nobody finds the old node by them any more.
  void invalidate(KernelCache& cache) const {
    for (const auto& [parent, name] : names) cache.invalidate_entry(parent, name);
    for (const auto& [parent, name] : expired) cache.expire_entry(parent, name);
    for (const uint64_t ino : nodes) cache.invalidate_inode(ino);
  }
};

}  // namespace gridmount::fuse
