// Clients' cursors, by id. Each of them waits here between two batches. find and aggregate return
// the first batch, getMore the next one, and killCursors ends the cursor.
// Source: MongoDB manual, "Cursors", "getMore", "killCursors".
//
// A waiting cursor holds no read view (Snapshot::pause()). So the store can reuse the space of
// documents that are removed meanwhile. Each batch reads the newest contents.
//
// Thread-safety: thread-safe. Different cursors can be read at the same time.
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
  std::chrono::milliseconds idle_max{600'000};  // an idle cursor expires; a server's default
  size_t cursors_max = 10'000;  // limit of waiting cursors; above it OperationFailed
  // The limit of the bytes of documents that cursors have read and hold for the next batch. If the
  // limit leaves no room to hold another document as large as the last one, a batch ends before a
  // document that might not fit into it.
  uint64_t held_bytes_max = uint64_t{32} << 20;
};

// Data that a layer above attaches to a cursor: its owner, what may interrupt it.
class CursorNote {
 public:
  virtual ~CursorNote() = default;
};

struct CursorOptions {
  bool no_timeout = false;
  bool tailable = false;  // stays open at the end and waits for new documents
  // The cursor never returns more documents than this. After that many it has ended, and is not
  // read again.
  std::optional<int64_t> documents_max = {};
  std::shared_ptr<CursorNote> note = {};
};

struct CursorInfo {
  int64_t id = 0;
  engine::Namespace ns;
  CursorOptions options;
  bool in_use = false;  // a call is reading it
};

struct BatchLimits {
  std::optional<int64_t> documents = {};     // absent: as many as fit into `bytes`
  uint64_t bytes = bson::kMaxDocumentBytes;  // the whole batch; at least one document is returned
  uint64_t bytes_per_document = 0;           // added for each document to its own size
};

struct CursorBatch {
  int64_t id = 0;  // 0: the cursor has ended
  std::vector<bson::Document> documents;
};

// Receives the documents of a batch one by one. A view is valid during the call.
using Sink = std::function<void(bson::View)>;

class CursorRegistry {
 public:
  explicit CursorRegistry(const RegistryOptions& options) : options_(options) {}

  // Reads the first batch. Takes ownership of the cursor and of the snapshot it reads. The snapshot
  // must not be a Transaction. It is null for a cursor that reads no store.
  Result<CursorBatch> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                           std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                           const BatchLimits& limits) GM_EXCLUDES(mutex_);
  // Like the function above, but passes the documents to `sink` and returns the id.
  Result<int64_t> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                       std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                       const BatchLimits& limits, const Sink& sink) GM_EXCLUDES(mutex_);
  // Fails with CursorNotFound (43) if there is no such cursor, with Unauthorized (13) if it belongs
  // to another namespace, and with code 12051 while another call reads it. An error of the read
  // ends the cursor.
  Result<CursorBatch> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits)
      GM_EXCLUDES(mutex_);
  Result<int64_t> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits,
                           const Sink& sink) GM_EXCLUDES(mutex_);
  // Returns false if there is no such cursor. A cursor that is being read ends after its batch.
  bool kill(int64_t id) GM_EXCLUDES(mutex_);
  // Kills all cursors for which `condition` returns true. Calls it with the registry locked.
  // Returns how many.
  size_t kill_if(const std::function<bool(const CursorInfo&)>& condition) GM_EXCLUDES(mutex_);
  std::optional<CursorInfo> info(int64_t id) const GM_EXCLUDES(mutex_);
  std::vector<CursorInfo> list() const GM_EXCLUDES(mutex_);
  // Ends cursors that have been idle too long. open() does this as well. Returns how many.
  size_t expire(Clock::time_point now) GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);
  // The number of cursors that have ever waited for a getMore, and the number of those that
  // expired.
  int64_t opened() const GM_EXCLUDES(mutex_);
  int64_t timed_out() const GM_EXCLUDES(mutex_);

 private:
  struct Waiting {
    int64_t id = 0;
    engine::Namespace ns;
    CursorOptions options;
    // The cursor must be destroyed before the snapshot it reads. The order of members ensures it.
    std::unique_ptr<engine::Snapshot> snapshot;
    std::unique_ptr<engine::Cursor> cursor;
    std::optional<HeldDocument> held;  // did not fit in the last batch
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
