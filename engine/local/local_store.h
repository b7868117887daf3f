// The embedded store: a folder with an LMDB file, a checkpoint file and a lock file, owned by one
// process. See FORMAT.md beside this file for the bytes.
//
// Thread-safety: open() any number of times in a process, but one store folder only once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "engine/error.h"
#include "engine/store.h"

namespace gridmount::local {

struct OpenOptions {
  bool create = false;     // make the store if there is none; otherwise StoreNotFound
  bool read_only = false;  // no writes, no checkpoints; needs only read permission
  std::chrono::milliseconds checkpoint_interval{1000};  // upper bound of what power loss may cost
  std::chrono::milliseconds expiry_interval{60'000};    // between sweeps of TTL indexes
  uint64_t map_bytes = uint64_t{1} << 40;  // address space reserved; the largest size of a store
};

// Errors: StoreNotFound, NotAStore, StoreFormatTooNew, StoreLocked (with the owner's pid),
// StoreReadOnly, PermissionDenied, StoreDamaged, OutOfDiskSpace, IoError; each message says what to
// do. Call after daemonizing: an open store does not survive fork().
Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options);

// What `gridstore check` finds below the documents. Each problem is one line naming the object.
struct StructureReport {
  uint64_t collections = 0;
  uint64_t records = 0;
  uint64_t index_entries = 0;
  std::vector<std::string> problems;  // at most kMaxProblems, then a line with the number left out
};
inline constexpr size_t kMaxProblems = 1000;

// Reads everything in `store` (which open() made): each record's checksum and BSON, each index
// entry against its document and back, the counts of the catalog. Runs on one snapshot, beside
// writers.
Result<StructureReport> check_structure(engine::Store& store);

}  // namespace gridmount::local
