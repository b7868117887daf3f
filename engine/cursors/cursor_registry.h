// Cursors that wait between batches, by their ids, as clients of a server use them: find and
// aggregate give the first batch, getMore the next, killCursors ends them.
// Source: MongoDB manual, "Cursors", "getMore", "killCursors".
//
// A waiting cursor holds no snapshot (Snapshot::pause()), so it survives writes and costs the store
// no space; each batch sees the newest contents.
//
// Thread-safe. Different cursors are read at the same time.
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
  std::chrono::milliseconds idle_max{600'000};  // then a cursor is gone; a server's default
  size_t cursors_max = 10'000;                  // waiting ones; beyond it OperationFailed
  // Of documents that cursors have read and that wait for the next batch. While there are as many,
  // a batch ends before a document that might have no room in it.
  uint64_t held_bytes_max = uint64_t{32} << 20;
};

// What a layer above keeps with a cursor: whose it is, what may interrupt it.
class CursorNote {
 public:
  virtual ~CursorNote() = default;
};

struct CursorOptions {
  bool no_timeout = false;
  bool tailable = false;  // at the end it stays, for what comes
  // It never gives more: with this many given it has ended, without being asked once more.
  std::optional<int64_t> documents_max = {};
  std::shared_ptr<CursorNote> note = {};
};

struct CursorInfo {
  int64_t id = 0;
  engine::Namespace ns;
  CursorOptions options;
  bool in_use = false;  // a call reads it
};

struct BatchLimits {
  std::optional<int64_t> documents = {};     // none: as many as the bytes allow
  uint64_t bytes = bson::kMaxDocumentBytes;  // of all; one document is always given
  uint64_t bytes_per_document = 0;           // counted for each beside its own
};

struct Batch {
  int64_t id = 0;  // 0: there is nothing more
  std::vector<bson::Document> documents;
};

// Takes the documents of a batch, one after the other. A view is valid during the call.
using Sink = std::function<void(bson::View)>;

class CursorRegistry {
 public:
  explicit CursorRegistry(const RegistryOptions& options) : options_(options) {}

  // Reads the first batch. Takes the cursor and what it reads, which is a Snapshot and no
  // Transaction, or null for a cursor that reads no store.
  Result<Batch> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                     std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                     const BatchLimits& limits) GM_EXCLUDES(mutex_);
  // The same, giving the documents to `sink` and returning the id.
  Result<int64_t> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                       std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                       const BatchLimits& limits, const Sink& sink) GM_EXCLUDES(mutex_);
  // CursorNotFound (43) if there is no such cursor; Unauthorized (13) if it is of another
  // namespace; code 12051 while another call reads it. An error of the read ends the cursor.
  Result<Batch> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits)
      GM_EXCLUDES(mutex_);
  Result<int64_t> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits,
                           const Sink& sink) GM_EXCLUDES(mutex_);
  // False if there is none. One that is being read ends when its batch is done.
  bool kill(int64_t id) GM_EXCLUDES(mutex_);
  // All of which `condition` is true, which is called with the registry locked. Returns how many.
  size_t kill_if(const std::function<bool(const CursorInfo&)>& condition) GM_EXCLUDES(mutex_);
  std::optional<CursorInfo> info(int64_t id) const GM_EXCLUDES(mutex_);
  std::vector<CursorInfo> list() const GM_EXCLUDES(mutex_);
  // Ends those that have waited too long; also done by open(). Returns how many.
  size_t expire(Clock::time_point now) GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);
  // How many have waited for a getMore, and how many of them too long.
  int64_t opened() const GM_EXCLUDES(mutex_);
  int64_t timed_out() const GM_EXCLUDES(mutex_);

 private:
  struct Waiting {
    int64_t id = 0;
    engine::Namespace ns;
    CursorOptions options;
    // The cursor before the snapshot it reads: destroyed in this order.
    std::unique_ptr<engine::Snapshot> snapshot;
    std::unique_ptr<engine::Cursor> cursor;
    std::optional<HeldDocument> held;  // had no room in the last batch
    int64_t given = 0;
    Clock::time_point since;
    bool in_use = false;
    bool killed = false;
  };
  using Position = std::list<Waiting>::iterator;

  // The cursor's id if it goes on.
  Result<int64_t> read(Waiting& waiting, const BatchLimits& limits, const Sink& sink);
  Result<int64_t> resume_and_read(Waiting& waiting, const BatchLimits& limits, const Sink& sink);
  static CursorInfo info_of(const Waiting& waiting);
  size_t expire_locked(Clock::time_point now, std::list<Waiting>& ended) GM_REQUIRES(mutex_);

  const RegistryOptions options_;
  std::atomic<uint64_t> held_bytes_ = 0;
  mutable Mutex mutex_;
  std::list<Waiting> waiting_ GM_GUARDED_BY(mutex_);  // the one used longest ago first
  std::unordered_map<int64_t, Position> by_id_ GM_GUARDED_BY(mutex_);
  int64_t opened_ GM_GUARDED_BY(mutex_) = 0;
  int64_t timed_out_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::cursors
