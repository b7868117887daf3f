// The embedded store: a folder on disk with an LMDB file, a checkpoint file, a lock file and a few
// more, owned by one process. FORMAT.md beside this file describes the bytes.
//
// Signals: the first open() installs handlers of SIGSEGV and SIGBUS. They pass every fault outside
// a store to the handlers installed before. The first open() also makes the process ignore SIGXFSZ
// if the signal still has its default action.
//
// Thread-safety: open() is thread-safe. A process may open many stores, but each store folder only
// once at a time. The functions that take a store are thread-safe, except where their comment asks
// for a store that nobody else uses.
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
  // The size on disk of the log of small durable commits, 64 MiB at most. A store of format version
  // 1 has no log.
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

// What `gridstore check` finds below the level of documents. Each problem is one line that names
// the object.
struct StructureReport {
  uint64_t collections = 0;
  uint64_t records = 0;
  uint64_t index_entries = 0;
  std::vector<std::string> problems;  // at most kMaxProblems, then a line that counts the rest
};
inline constexpr size_t kMaxProblems = 1000;

// Reads everything in `store`: each record's checksum and BSON, each index entry against its
// document and each document against its index entries, and the counts of the catalog. Reads one
// snapshot while writers continue. `record_read`, if set, is called for each record. `store` must
// come from open().
Result<StructureReport> check_structure(engine::Store& store,
                                        const std::function<void()>& record_read = {});

// Returns the most dangerous problems: errors in the list of free pages, and pages that are in use
// twice. Any write may destroy what such a store holds. compact_store() makes a new list.
Result<std::vector<std::string>> free_list_problems(engine::Store& store);

// Returns the number of damaged pages of the trees. check_structure() reports the resulting
// problems one by one. Avoid all writes to such a store: use salvage_store().
Result<uint64_t> damaged_pages(engine::Store& store);

// Receives what a repair takes out of the store.
class RemovedData {
 public:
  virtual ~RemovedData() = default;
  // Keeps a sound document that conflicts with another one.
  virtual Status keep_document(const engine::Namespace& ns, bson::View document) = 0;
  // Keeps bytes that are not a sound document: the value of a record, or a key and value of the
  // trees. `what` names them. `why` says what is wrong with them.
  virtual Status keep_bytes(const engine::Namespace& ns, const std::string& what,
                            const std::string& why, std::string_view bytes) = 0;
  // Makes everything kept so far durable.
  virtual Status sync() = 0;
};

struct RepairOptions {
  RemovedData& removed;
  // `repaired` is called with one line for each repair, after its commit. `at` is called with the
  // object that is examined next, so that the caller can name it if the repair hangs or crashes.
  std::function<void(const std::string& line)> repaired;
  std::function<void(const std::string& place)> at = {};
};

struct RepairReport {
  uint64_t repaired = 0;                  // the number of calls of RepairOptions::repaired
  std::vector<std::string> unrepairable;  // at most kMaxProblems
  // Collections that hold fewer documents than the catalog counted, or whose counts were lost.
  std::vector<engine::Namespace> lost_documents;
};

// Repairs what check_structure() finds, on a store that is open for writing and that nobody else
// uses. Index entries are made to match the documents, and counts to match the records. Two kinds
// of records are taken out: those that cannot be read, and documents that violate a unique index
// (of the documents with one key, the one with the lowest record id stays). Works in transactions
// of bounded size. Each of them leaves a store that can be opened and repaired again. What a
// transaction takes out is kept and synced before it commits. Damaged entries of the catalog and
// damaged pages of the trees cannot be repaired here: the report lists those that were met. It
// fails only with errors of the device and of `removed`.
Result<RepairReport> repair_structure(engine::Store& store, const RepairOptions& options);

// Repairs what repair_structure() cannot. It makes a new store from all that can be read in
// `folder`, including damaged pages and pages that damage has cut off, and repairs the new store.
// The new store replaces the old one only when it is whole. After an error, or after an
// interruption at any moment by a kill or a power loss, the store is as it was. Needs free space
// for the new store. After the replacement `options.repaired` is called for records that were lost,
// pages that were left behind, and whatever was rebuilt. Fails with StoreLocked if the store is in
// use, and with DataCorruptionDetected if the catalog has lost the name of a collection that still
// has documents.
Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options);

// Does what Collection::create_index() does, but in transactions of bounded size. The store must be
// open for writing, and nobody else may change the collection meanwhile. On success the collection
// has the index. After an error, or an interruption at any point, it does not, and the unfinished
// part is removed in the background, now or when the store is next opened.
Status make_index_in_steps(engine::Store& store, const engine::Namespace& ns,
                           const query::IndexDefinition& definition);

}  // namespace gridmount::local
