// Cursors that wait between batches, by their ids, as clients of a server use them: find and
// aggregate give the first batch, getMore the next, killCursors ends them.
// Source: MongoDB manual, "Cursors", "getMore", "killCursors".
//
// A waiting cursor holds no snapshot (Snapshot::pause()), so it survives writes and costs the store
// no space; each batch sees the newest contents.
//
// Thread-safe. Different cursors are read at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/bson/document.h"
#include "engine/error.h"
#include "engine/store.h"
#include "engine/thread_safety.h"

namespace gridmount::cursors {

using Clock = std::chrono::steady_clock;

struct RegistryOptions {
  std::chrono::milliseconds idle_max{600'000};  // then a cursor is gone; a server's default
  size_t cursors_max = 10'000;                  // waiting ones; beyond it OperationFailed
};

struct CursorOptions {
  bool no_timeout = false;
  bool tailable = false;  // at the end it stays, for what comes
};

struct BatchLimits {
  std::optional<int64_t> documents = {};     // none: as many as the bytes allow
  uint64_t bytes = bson::kMaxDocumentBytes;  // of all; one document is always given
};

struct Batch {
  int64_t id = 0;  // 0: there is nothing more
  std::vector<bson::Document> documents;
};

class CursorRegistry {
 public:
  explicit CursorRegistry(const RegistryOptions& options) : options_(options) {}

  // Reads the first batch. Takes the cursor and what it reads, which is a Snapshot and no
  // Transaction.
  Result<Batch> open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                     std::unique_ptr<engine::Cursor> cursor, const CursorOptions& options,
                     const BatchLimits& limits) GM_EXCLUDES(mutex_);
  // CursorNotFound (43) if there is no such cursor; Unauthorized (13) if it is of another
  // namespace; code 12051 while another call reads it. An error of the read ends the cursor.
  Result<Batch> get_more(int64_t id, const engine::Namespace& ns, const BatchLimits& limits)
      GM_EXCLUDES(mutex_);
  // False if there is none. One that is being read ends when its batch is done.
  bool kill(int64_t id) GM_EXCLUDES(mutex_);
  // Ends those that have waited too long; also done by open(). Returns how many.
  size_t expire(Clock::time_point now) GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);

 private:
  struct Waiting {
    int64_t id = 0;
    engine::Namespace ns;
    CursorOptions options;
    // The cursor before the snapshot it reads: destroyed in this order.
    std::unique_ptr<engine::Snapshot> snapshot;
    std::unique_ptr<engine::Cursor> cursor;
    std::optional<bson::Document> held;  // had no room in the last batch
    Clock::time_point since;
    bool in_use = false;
    bool killed = false;
  };
  using Position = std::list<Waiting>::iterator;

  static Result<Batch> read(Waiting& waiting, const BatchLimits& limits);
  static Result<Batch> resume_and_read(Waiting& waiting, const BatchLimits& limits);
  size_t expire_locked(Clock::time_point now, std::list<Waiting>& ended) GM_REQUIRES(mutex_);

  const RegistryOptions options_;
  mutable Mutex mutex_;
  std::list<Waiting> waiting_ GM_GUARDED_BY(mutex_);  // the one used longest ago first
  std::unordered_map<int64_t, Position> by_id_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::cursors
