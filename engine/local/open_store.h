// Opens the embedded store: a folder on disk that one process owns, with LMDB's file, a checkpoint
// file, a lock file and a few others. FORMAT.md, in the same folder as this header, describes their
// bytes.
//
// Signals: the first open() installs handlers of SIGSEGV and SIGBUS. If a fault does not concern a
// store, these handlers call the handlers that were installed before. open() also makes the process
// ignore SIGXFSZ if the signal still has its default action.
//
// Thread-safety: all functions are thread-safe. A process may have many stores open, but it must
// not have one folder open twice at the same time.
//
// A process has MapGuard::kGuardsMax guards against SIGBUS (map_guard.h). A store takes two of
// them, or one if it is read-only and not beside its owner. A store that finds no guard left works
// too. But a page that cannot be read may then end the process, PageCheck and TreePath check
// nothing, and whatever surveys all pages fails with IllegalOperation: checks, repairs and
// compactions.
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

// The newest format version of a store. New and upgraded stores have this version. A store that is
// older keeps its version until it is upgraded (FORMAT.md, "format").
inline constexpr int kFormatVersion = 5;
// The first format version whose entries have checksums.
inline constexpr int kFirstVersionWithChecksums = 3;
// The first format version whose records may have patches.
inline constexpr int kFirstVersionWithPatches = 4;
// The first format version in which collections, views and indexes may have collations.
inline constexpr int kFirstVersionWithCollations = 4;
// The first format version with text and wildcard indexes.
inline constexpr int kFirstVersionWithTextAndWildcardIndexes = 5;

// Writers wait while data.mdb has this many times OpenOptions::checkpoint_bytes of freed pages that
// cannot be reused yet.
inline constexpr uint64_t kGarbageMax = 4;

struct OpenOptions {
  bool create = false;  // creates the store if there is none; if false and there is none, open()
                        // fails with StoreNotFound
  // Upgrades the store to kFormatVersion. From then on, new data has checksums, and the store may
  // have patches, collations, text and wildcard indexes. The files that the old version lacks
  // (`redo`, `pending`) are used from the next open() on.
  bool upgrade = false;
  bool read_only = false;  // the store cannot be written; needs only permission to read the files
  // May be set only with read_only. If another process on this machine owns the store, open() reads
  // the files beside the owner, and does not fail with StoreLocked. It still fails with StoreLocked
  // while the owner recovers, creates or closes the store, and with StoreDamaged if data.mdb was
  // truncated meanwhile.
  //
  // A snapshot of a store beside its owner may lack the commits of about the last 20 ms before it
  // was taken (Batch::kTimeMax). The snapshot does not change while the owner writes. While the
  // snapshot exists, the owner cannot reuse the pages of the snapshot, so data.mdb grows. Needs
  // permission to write data.mdb-lock, where LMDB has its table of readers.
  bool beside_owner = false;
  // The time between the end of a checkpoint and the beginning of the next one. A power loss can
  // lose the commits of this time and of the time that two checkpoints take.
  std::chrono::milliseconds checkpoint_interval{1000};
  // The next checkpoint is taken early when data.mdb has grown by this many bytes, or when this
  // many of its bytes have been freed. Pages of the last checkpoint that are freed can be reused
  // only after the next checkpoint. If much is overwritten and checkpoints are too slow, writers
  // wait (kGarbageMax).
  uint64_t checkpoint_bytes = uint64_t{64} << 20;
  // The size of the redo log on the disk, in bytes. A value above 64 MiB counts as 64 MiB. A store
  // of format version 1 has no redo log.
  uint64_t redo_bytes = uint64_t{4} << 20;
  std::chrono::milliseconds expiry_interval{60'000};  // the time between two passes of the TTL
                                                      // monitor
  // The limit for the size of data.mdb, in bytes. 0 means no limit. A transaction that would exceed
  // the limit fails with OutOfDiskSpace, unless the transaction removes more than it adds.
  // StoreStats::capacity_bytes and available_bytes count only the room that the limit leaves. The
  // limit is not stored: it holds until the store is closed.
  uint64_t size_limit = 0;
  // The bytes of address space to reserve. If the process cannot get so much, open() reserves less,
  // but at least 1 GiB and at least twice the size of data.mdb. data.mdb cannot become larger than
  // the reserved space.
  uint64_t map_bytes = uint64_t{1} << 40;
};

// Opens a store. Fails with StoreNotFound, NotAStore, StoreFormatTooNew, StoreLocked (with the
// owner's pid), StoreReadOnly, PermissionDenied, StoreDamaged, OutOfDiskSpace, IoError or
// kFileSystemUnfit (opening_error.h). Fails with InvalidOptions if `options` contradict each other,
// and with OperationFailed if the process cannot reserve enough address space, or if the version of
// LMDB cannot enforce a size limit. Fails with DataCorruptionDetected if a change that recovery
// must replay does not fit the contents of data.mdb, and with WritesRefused if the map of data.mdb
// does not show the last commit (storage/commit_sequence.h). The messages say what to do. A program
// that becomes a daemon must call open() after its last fork(), because an open store cannot be
// used after fork().
Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options);

// Returns the format version of `store`, after the upgrade if open() has made one. Returns
// kFormatVersion if `store` does not come from open().
int format_version_of(const engine::Store& store);

// The owner of a store: the process that has it open for writing.
struct Owner {
  int64_t pid = 0;
  std::string host;
};

// Returns the owner if open() has opened `store` beside its owner (OpenOptions::beside_owner).
// Otherwise returns nothing, also if `store` does not come from open().
std::optional<Owner> owner_beside(const engine::Store& store);

}  // namespace gridmount::local
