// The embedded store: a folder on disk with an LMDB file, a checkpoint file, a lock file and a few
// more, owned by one process. FORMAT.md beside this file describes the bytes.
//
// Signals: the first open() installs handlers of SIGSEGV and SIGBUS. They pass every fault outside
// a store to the handlers installed before. The first open() also makes the process ignore SIGXFSZ
// if the signal still has its default action.
//
// Thread-safety: open() is thread-safe. A process may open many stores, but each store folder only
// once at a time. The functions that take a store are thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// The newest format version of a store. This program writes it (FORMAT.md, "format").
inline constexpr int kFormatVersion = 3;
// The first format version whose entries have checksums.
inline constexpr int kFirstVersionWithChecksums = 3;

// Writers wait if this many times OpenOptions::checkpoint_bytes have been freed but are not yet
// reusable.
inline constexpr uint64_t kGarbageMax = 4;

struct OpenOptions {
  bool create = false;     // makes the store if there is none; otherwise StoreNotFound
  bool upgrade = false;    // raises the format to kFormatVersion, from the next open() on
  bool read_only = false;  // no writes, no checkpoints; needs only read permission
  // With read_only: if another process owns the store, read it beside the owner instead of failing
  // with StoreLocked. A snapshot is then up to 20 ms old when it is taken, and stays unchanged
  // while the owner writes. The owner's file grows for as long as the snapshot is held.
  // Needs permission to write data.mdb-lock, where LMDB keeps its table of readers.
  bool beside_owner = false;
  // The pause between two checkpoints. A power loss may cost the commits of this pause and of the
  // time that two checkpoints take.
  std::chrono::milliseconds checkpoint_interval{1000};
  // A checkpoint is taken early when data.mdb has grown by this much, or when this much of it has
  // been freed. Pages that the last checkpoint refers to cannot be reused before the next one. If
  // checkpoints do not keep up with overwriting, writers wait as soon as kGarbageMax times this
  // much has been freed but is not yet reusable.
  uint64_t checkpoint_bytes = uint64_t{64} << 20;
  // The size on disk, at most 64 MiB, of the log of small durable commits. A store of format
  // version 1 has no log.
  uint64_t redo_bytes = uint64_t{4} << 20;
  std::chrono::milliseconds expiry_interval{60'000};  // between passes over TTL indexes
  // The largest size of data.mdb. A write that would exceed it fails with OutOfDiskSpace, unless it
  // removes more than it adds. Stats report the limit as the size of the disk. The limit belongs to
  // this opening, not to the store. 0: no limit.
  uint64_t size_limit = 0;
  // The address space to reserve. If the process cannot have that much, open() reserves less. A
  // store cannot become larger than the reserved space.
  uint64_t map_bytes = uint64_t{1} << 40;
};

// Opens a store. Fails with StoreNotFound, NotAStore, StoreFormatTooNew, StoreLocked (with the
// owner's pid), StoreReadOnly, PermissionDenied, StoreDamaged, OutOfDiskSpace, IoError or
// kFileSystemUnfit (opening_error.h). Each message says what to do. Call it after daemonizing: an
// open store does not survive fork().
Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options);

// Returns the format version of `store` from its file 'format'. `store` must come from open().
int format_version_of(const engine::Store& store);

// The owner of a store: the process that has it open for writing.
struct Owner {
  int64_t pid = 0;
  std::string host;
};

// Returns the owner if `store` is read beside one (OpenOptions::beside_owner), otherwise nothing.
// `store` must come from open().
std::optional<Owner> owner_beside(const engine::Store& store);

}  // namespace gridmount::local
