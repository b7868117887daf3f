// The embedded store: a folder with an LMDB file, a checkpoint file and a lock file, owned by one
// process. See FORMAT.md beside this file for the bytes.
//
// Thread-safety: open() any number of times in a process, but one store folder only once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/store.h"

namespace gridmount::local {

// The newest format of a store, which this program writes (FORMAT.md, "format").
inline constexpr int kFormatVersion = 1;

inline constexpr uint64_t kGarbageMax = 8;

struct OpenOptions {
  bool create = false;     // make the store if there is none; otherwise StoreNotFound
  bool read_only = false;  // no writes, no checkpoints; needs only read permission
  // With read_only: a store that another process owns is read beside it rather than refused. What a
  // snapshot shows stays as it is while the owner writes; the owner's file grows for as long as the
  // snapshot is held. Needs permission to write data.mdb-lock, where LMDB keeps its readers.
  bool beside_owner = false;
  std::chrono::milliseconds checkpoint_interval{1000};  // upper bound of what power loss may cost
  // How much data.mdb may grow until a checkpoint is taken before its time: pages that the last one
  // refers to cannot be reused. Where checkpoints do not keep up with overwriting, writers wait
  // when kGarbageMax times as much is garbage that waits for the next one.
  uint64_t checkpoint_bytes = uint64_t{64} << 20;
  std::chrono::milliseconds expiry_interval{60'000};  // between sweeps of TTL indexes
  uint64_t map_bytes = uint64_t{1} << 40;  // address space reserved; the largest size of a store
};

// Errors: StoreNotFound, NotAStore, StoreFormatTooNew, StoreLocked (with the owner's pid),
// StoreReadOnly, PermissionDenied, StoreDamaged, OutOfDiskSpace, IoError; each message says what to
// do. Call after daemonizing: an open store does not survive fork().
Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options);

// Who owns the folder's store: the process that has it open for writing.
struct Owner {
  int64_t pid = 0;
  std::string host;
};

// The owner `store` (which open() made) is read beside; nothing if it is held alone.
std::optional<Owner> owner_beside(const engine::Store& store);

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
