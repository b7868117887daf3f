// What the kernel remembers of the mount, for what others than the kernel have changed.
//
// Thread-safety: implementations are thread-safe. Not to be called with a lock held that an
// operation of the file system takes: the kernel waits for operations that are under way.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace gridmount::fuse {

class KernelCache {
 public:
  virtual ~KernelCache() = default;
  // Attributes and content, of a folder its listing; what it has not written yet is written first.
  virtual void forget_node(uint64_t number) = 0;
  // What a name in a folder leads to, or that there is none.
  virtual void forget_name(uint64_t parent, const std::string& name) = 0;
};

// What the kernel may remember wrongly.
struct StaleEntries {
  std::set<uint64_t> nodes;
  std::set<std::pair<uint64_t, std::string>> names;  // by the folder's number

  // Names first, so that nobody finds the old node by them any more.
  void forget(KernelCache& cache) const {
    for (const auto& [parent, name] : names) cache.forget_name(parent, name);
    for (const uint64_t number : nodes) cache.forget_node(number);
  }
};

}  // namespace gridmount::fuse
