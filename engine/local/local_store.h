// The embedded store: a folder with an LMDB file, a checkpoint file and a lock file, owned by one
// process. See FORMAT.md beside this file for the bytes.
//
// Signals: the first open() installs handlers of SIGSEGV and SIGBUS, which pass on what does not
// concern a store, and ignores SIGXFSZ where nothing else was said of it.
//
// Thread-safety: open() any number of times in a process, but one store folder only once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::local {

// The newest format of a store, which this program writes (FORMAT.md, "format").
inline constexpr int kFormatVersion = 3;
// The first one whose entries have checksums.
inline constexpr int kFirstVersionWithChecksums = 3;

inline constexpr uint64_t kGarbageMax = 4;

struct OpenOptions {
  bool create = false;     // make the store if there is none; otherwise StoreNotFound
  bool upgrade = false;    // to kFormatVersion; what it brings is used from the next opening on
  bool read_only = false;  // no writes, no checkpoints; needs only read permission
  // With read_only: a store that another process owns is read beside it rather than refused. What a
  // snapshot shows is up to 20 ms old, and stays as it is while the owner writes; the owner's file
  // grows for as long as the snapshot is held. Needs permission to write data.mdb-lock, where LMDB
  // keeps its readers.
  bool beside_owner = false;
  std::chrono::milliseconds checkpoint_interval{1000};  // upper bound of what power loss may cost
  // How much data.mdb may grow, or be freed of it, until a checkpoint is taken before its time:
  // pages that the last one refers to cannot be reused. Where checkpoints do not keep up with
  // overwriting, writers wait when kGarbageMax times as much is garbage that waits for the next
  // one.
  uint64_t checkpoint_bytes = uint64_t{64} << 20;
  // What the log of small durable commits takes on the disk, 64 MiB at most. A store of format
  // version 1 has none.
  uint64_t redo_bytes = uint64_t{4} << 20;
  std::chrono::milliseconds expiry_interval{60'000};  // between sweeps of TTL indexes
  // The most that data.mdb may hold: what would make it larger is OutOfDiskSpace, but for removals,
  // and statistics tell it as a disk's size. Of this opening, not of the store. 0: no limit.
  uint64_t size_limit = 0;
  uint64_t map_bytes = uint64_t{1} << 40;  // address space reserved; the largest size of a store
};

// Errors: StoreNotFound, NotAStore, StoreFormatTooNew, StoreLocked (with the owner's pid),
// StoreReadOnly, PermissionDenied, StoreDamaged, OutOfDiskSpace, IoError, kFileSystemUnfit
// (opening_error.h); each message says what to do. Call after daemonizing: an open store does not
// survive fork().
Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options);

// The format of `store` (which open() made), as its file 'format' gives it.
int format_version_of(const engine::Store& store);

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
// writers. `record_read`, if there is one, is called for each record.
Result<StructureReport> check_structure(engine::Store& store,
                                        const std::function<void()>& record_read = {});

// Of these what is wrong with the list of free pages, and which pages are in use twice: whatever is
// written to such a store may destroy what is in it. compact_store() makes a list anew.
Result<std::vector<std::string>> free_list_problems(engine::Store& store);

// Pages of the trees that are not what they should be, which check_structure() has among its
// problems by what it reads. Nothing is written to such a store that need not be: salvage_store().
Result<uint64_t> damaged_pages(engine::Store& store);

// Keeps what a repair takes out of the store.
class RemovedData {
 public:
  virtual ~RemovedData() = default;
  // A sound document, which is in the way of others.
  virtual Status keep_document(const engine::Namespace& ns, bson::View document) = 0;
  // What is no document any more: a record's value, or a key and value of the trees. `what` says
  // which, `why` what is wrong with it.
  virtual Status keep_bytes(const engine::Namespace& ns, const std::string& what,
                            const std::string& why, std::string_view bytes) = 0;
  // What has been kept so far is durable on return.
  virtual Status sync() = 0;
};

struct RepairOptions {
  RemovedData& removed;
  // Told of each thing that was mended, one line, after it is committed; and of what is being
  // looked at, for whoever has to say where a repair ended that did not return.
  std::function<void(const std::string& line)> mended;
  std::function<void(const std::string& place)> at = {};
};

struct RepairReport {
  uint64_t mended = 0;                     // the lines told
  std::vector<std::string> beyond_repair;  // at most kMaxProblems
  // Collections with fewer documents than the catalog counted, or whose counts were lost.
  std::vector<engine::Namespace> lost_documents;
};

// Mends what check_structure() finds, on a store that is open for writing and that nobody else
// uses: index entries follow the documents, counts what is there; records that cannot be read, and
// documents that a unique index has no room for, are taken out (of several the first by record id
// stays). In transactions of bounded size, each of which leaves a store that can be opened and
// repaired again; what one takes out is kept and synced before it commits. Damaged entries of the
// catalog and pages of the trees are beyond this: the report says which were met. An error is one
// of the device or of `removed`.
Result<RepairReport> repair_structure(engine::Store& store, const RepairOptions& options);

// What is beyond that: makes the store in `folder` anew of all that can be read in it, pages that
// are damaged or that damage hides included, and mends the new one. It takes the place of the old
// one only when it is whole; interrupted at any moment, by a kill or a power loss, or after an
// error, the store is as it was. Needs free space for the new one. `options.mended` is told when it
// has taken its place: of records that were lost, pages that were left behind, and what was made
// again. The store must not be in use (StoreLocked). DataCorruptionDetected if what the catalog has
// lost leaves documents without their collection's name.
Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options);

// What Collection::create_index() does, in transactions of bounded size, on a store that is open
// for writing and whose collection nobody else changes meanwhile. The collection has the index when
// this returns well; after an error, or an interruption at any point, it has not, and what had been
// made of it is removed in the background, now or when the store is next opened.
Status make_index_in_steps(engine::Store& store, const engine::Namespace& ns,
                           const query::IndexDefinition& definition);

}  // namespace gridmount::local
