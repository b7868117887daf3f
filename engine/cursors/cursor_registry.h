// The cursors of clients, by id. A cursor waits in the registry between two batches. The commands
// find and aggregate return the first batch, getMore returns the next one, and killCursors ends the
// cursor.
// Source: MongoDB manual, "Cursors", "getMore", "killCursors".
//
// The snapshot of a waiting cursor is paused (Snapshot::pause()). So the store can reuse the space
// of documents that are removed meanwhile, and each batch reads the newest contents.
//
// Thread-safety: CursorRegistry is thread-safe. Several threads can read different cursors at the
// same time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/bson/document.h"
#include "engine/cursors/held_document.h"
#include "engine/store.h"

namespace gridmount::cursors {

using Clock = std::chrono::steady_clock;

struct RegistryOptions {
  std::chrono::milliseconds idle_max{600'000};  // an idle cursor expires after this time; the
                                                // default of servers
  size_t cursors_max = 10'000;  // open() fails with OperationFailed if so many cursors wait;
                                // a cursor that is being read does not count
  // A cursor knows the size of a document only after it has read the document. If the document does
  // not fit in the batch, the cursor holds it for the next batch. This is the limit for the bytes
  // of all held documents. The registry expects the next document to be as large as the last one.
  // If such a document would not fit in the batch, and holding it would exceed the limit, the batch
  // ends before the cursor reads the next document. So the limit can be exceeded if a document is
  // larger than the one before it, or if several threads read cursors at the same time.
  uint64_t held_bytes_max = uint64_t{32} << 20;
};

// Data that a layer above attaches to a cursor, such as its owner.
class CursorNote {
 public:
  virtual ~CursorNote() = default;
};

struct CursorOptions {
  bool no_timeout = false;  // the cursor never expires
  bool tailable = false;    // stays open after its last document, and later returns new documents
  // The cursor ends after this many documents, counted over all batches. A tailable cursor stays
  // open, but returns no more.
  std::optional<int64_t> documents_max = {};
  std::shared_ptr<CursorNote> note = {};
};

struct CursorInfo {
  int64_t id = 0;
  engine::Namespace ns;
  CursorOptions options;
  bool in_use = false;  // a call is reading the cursor
};

struct BatchLimits {
  std::optional<int64_t> documents = {};     // absent: as many as fit into `bytes`; 0: the batch is
                                             // empty, and the cursor stays
  uint64_t bytes = bson::kMaxDocumentBytes;  // limit of the whole batch; one document is returned
                                             // even if it is larger
  // The bytes that each document takes in the reply beyond its own size. They count towards
  // `bytes`.
  uint64_t bytes_per_document = 0;
};

struct CursorBatch {
  int64_t id = 0;  // for get_more(); 0: the cursor has ended
  std::vector<bson::Document> documents;
};

// Receives the documents of a batch one at a time. The view is valid during the call.
using Sink = std::function<void(bson::View)>;

class CursorRegistry {
 public:
  explicit CursorRegistry(const RegistryOptions& options) : options_(options) {}

  // Reads the first batch. Takes ownership of the cursor and of the snapshot that the cursor reads.
  // The snapshot must not be a Transaction, and must be null if the cursor reads no store. Fails
  // with the error of the read, of Snapshot::pause() or of random_id(), and with OperationFailed if
  // the cursor would have to wait and cursors_max cursors wait already. Every failure ends the
  // cursor.
  Result<CursorBatch> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                           std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                           const BatchLimits& limits) GM_EXCLUDES(mutex_);
  // Like the function above, but passes the documents to `sink` and returns CursorBatch::id.
  Result<int64_t> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                       std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                       const BatchLimits& limits, const Sink& sink) GM_EXCLUDES(mutex_);
  // Reads the next batch. Fails with CursorNotFound (43) if no cursor has this id, with
  // Unauthorized (13) if the cursor belongs to another namespace, and with CursorInUse (12051)
  // while another call reads the cursor. An error of Snapshot::resume() or of the read ends the
  // cursor. If Snapshot::pause() fails after the read, or if the cursor was killed meanwhile, the
  // batch is returned, and its id is 0.
  Result<CursorBatch> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits)
      GM_EXCLUDES(mutex_);
  // Like the function above, but passes the documents to `sink` and returns CursorBatch::id.
  Result<int64_t> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits,
                           const Sink& sink) GM_EXCLUDES(mutex_);
  // Ends the cursor. If another call is reading it, the cursor ends after that batch. Returns false
  // if no cursor has this id, or if the cursor with this id was killed before.
  bool kill(int64_t id) GM_EXCLUDES(mutex_);
  // Kills all cursors for which `condition` returns true, and returns their number. `condition` is
  // called with the registry locked, so it must not use the registry.
  size_t kill_if(const std::function<bool(const CursorInfo&)>& condition) GM_EXCLUDES(mutex_);
  // info() returns nothing if no cursor has this id. info() and list() leave out cursors that were
  // killed. list() is in no particular order.
  std::optional<CursorInfo> info(int64_t id) const GM_EXCLUDES(mutex_);
  std::vector<CursorInfo> list() const GM_EXCLUDES(mutex_);
  // Ends the cursors that have been idle for idle_max at the time `now`, except those with
  // no_timeout, and returns their number. open() does this too. Nothing else does it, so somebody
  // must call this function from time to time.
  size_t expire(Clock::time_point now) GM_EXCLUDES(mutex_);
  // Returns the number of cursors, those that are being read included.
  size_t size() const GM_EXCLUDES(mutex_);
  // opened() returns how many cursors have ever waited for a getMore, and timed_out() how many of
  // them have expired.
  int64_t opened() const GM_EXCLUDES(mutex_);
  int64_t timed_out() const GM_EXCLUDES(mutex_);

 private:
  struct Waiting {
    int64_t id = 0;
    engine::Namespace ns;
    CursorOptions options;
    // The cursor must be destroyed before the snapshot that it reads. The order of these two
    // members ensures this.
    std::unique_ptr<engine::Snapshot> snapshot;
    std::unique_ptr<engine::Cursor> cursor;
    std::optional<HeldDocument> held;  // a document that did not fit in the last batch
    int64_t given = 0;
    Clock::time_point since;
    bool in_use = false;
    bool killed = false;
  };
  using Position = std::list<Waiting>::iterator;

  // Returns the cursor's id if it continues, otherwise 0.
  Result<int64_t> read(Waiting& waiting, const BatchLimits& limits, const Sink& sink);
  Result<int64_t> resume_and_read(Waiting& waiting, const BatchLimits& limits, const Sink& sink);
  static CursorInfo info_of(const Waiting& waiting);
  size_t expire_locked(Clock::time_point now, std::list<Waiting>& ended) GM_REQUIRES(mutex_);

  const RegistryOptions options_;
  std::atomic<uint64_t> held_bytes_ = 0;
  mutable Mutex mutex_;
  std::list<Waiting> waiting_ GM_GUARDED_BY(mutex_);  // least recently used first
  std::unordered_map<int64_t, Position> by_id_ GM_GUARDED_BY(mutex_);
  int64_t opened_ GM_GUARDED_BY(mutex_) = 0;
  int64_t timed_out_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::cursors
