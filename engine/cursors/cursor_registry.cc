#include "engine/cursors/cursor_registry.h"

#include <random>
#include <string>
#include <utility>

namespace gridmount::cursors {
namespace {

constexpr ErrorCode kCursorInUse{12051};
constexpr ErrorCode kTooManyCursors{ErrorCode::kOperationFailed};

tl::unexpected<Error> not_found(int64_t id) {
  return fail(ErrorCode::kCursorNotFound, "cursor id " + std::to_string(id) + " not found");
}

// Not to be guessed by a client it was not given to.
int64_t random_id() {
  static thread_local std::mt19937_64 random{std::random_device()()};
  return static_cast<int64_t>(random() >> 1) | 1;
}

}  // namespace

Result<Batch> CursorRegistry::read(Waiting& waiting, const BatchLimits& limits) {
  Batch batch;
  batch.id = waiting.id;
  uint64_t bytes = 0;
  const auto full = [&] {
    return limits.documents && static_cast<int64_t>(batch.documents.size()) >= *limits.documents;
  };
  if (waiting.held && !full()) {
    bytes += waiting.held->view().size();
    batch.documents.push_back(*std::move(waiting.held));
    waiting.held.reset();
  }
  while (!full()) {
    GM_ASSIGN(const std::optional<bson::View> document, waiting.cursor->next());
    if (!document) {
      if (!waiting.options.tailable) batch.id = 0;
      break;
    }
    bytes += document->size();
    if (!batch.documents.empty() && bytes > limits.bytes) {
      waiting.held.emplace(*document);
      break;
    }
    batch.documents.emplace_back(*document);
  }
  return batch;
}

Result<Batch> CursorRegistry::resume_and_read(Waiting& waiting, const BatchLimits& limits) {
  GM_TRY(waiting.snapshot->resume());
  return read(waiting, limits);
}

Result<Batch> CursorRegistry::open(engine::Namespace ns, std::unique_ptr<engine::Snapshot> snapshot,
                                   std::unique_ptr<engine::Cursor> cursor,
                                   const CursorOptions& options, const BatchLimits& limits) {
  Waiting waiting;
  waiting.ns = std::move(ns);
  waiting.options = options;
  waiting.snapshot = std::move(snapshot);
  waiting.cursor = std::move(cursor);
  waiting.id = random_id();
  GM_ASSIGN(Batch batch, read(waiting, limits));
  if (batch.id == 0) return batch;
  GM_TRY(waiting.snapshot->pause());
  waiting.since = Clock::now();

  std::list<Waiting> ended;  // destroyed after the lock is given up
  const MutexLock lock(mutex_);
  expire_locked(waiting.since, ended);
  if (waiting_.size() >= options_.cursors_max) {
    return fail(kTooManyCursors, "there are " + std::to_string(waiting_.size()) +
                                     " open cursors, as many as may be; read to the end or kill "
                                     "some");
  }
  while (by_id_.count(waiting.id) != 0) waiting.id = random_id();
  batch.id = waiting.id;
  waiting_.push_back(std::move(waiting));
  by_id_[batch.id] = std::prev(waiting_.end());
  return batch;
}

Result<Batch> CursorRegistry::get_more(int64_t id, const engine::Namespace& ns,
                                       const BatchLimits& limits) {
  std::list<Waiting> taken;
  {
    const MutexLock lock(mutex_);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return not_found(id);
    Waiting& waiting = *found->second;
    if (waiting.ns != ns) {
      return fail(ErrorCode::kUnauthorized, "Requested getMore on namespace '" + ns.full() +
                                                "', but cursor belongs to a different namespace " +
                                                waiting.ns.full());
    }
    if (waiting.in_use) {
      return fail(kCursorInUse, "cursor id " + std::to_string(id) + " is already in use");
    }
    waiting.in_use = true;
    // The list element stays where it is; only this call touches what it reads.
    taken.splice(taken.begin(), waiting_, found->second);
  }
  Waiting& waiting = taken.front();
  Result<Batch> batch = resume_and_read(waiting, limits);
  const bool goes_on = batch && batch->id != 0 && waiting.snapshot->pause();

  const MutexLock lock(mutex_);
  waiting.in_use = false;
  waiting.since = Clock::now();
  if (goes_on && !waiting.killed) {
    waiting_.splice(waiting_.end(), taken);
  } else {
    by_id_.erase(id);
    if (batch) batch->id = 0;
  }
  return batch;
}

bool CursorRegistry::kill(int64_t id) {
  std::list<Waiting> ended;
  const MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second->killed) return false;
  if (found->second->in_use) {
    found->second->killed = true;
    return true;
  }
  ended.splice(ended.begin(), waiting_, found->second);
  by_id_.erase(found);
  return true;
}

size_t CursorRegistry::expire_locked(Clock::time_point now, std::list<Waiting>& ended) {
  size_t expired = 0;
  for (Position at = waiting_.begin(); at != waiting_.end();) {
    if (now - at->since < options_.idle_max) break;
    const Position waiting = at++;
    if (waiting->options.no_timeout) continue;
    by_id_.erase(waiting->id);
    ended.splice(ended.end(), waiting_, waiting);
    ++expired;
  }
  return expired;
}

size_t CursorRegistry::expire(Clock::time_point now) {
  std::list<Waiting> ended;
  const MutexLock lock(mutex_);
  return expire_locked(now, ended);
}

size_t CursorRegistry::size() const {
  const MutexLock lock(mutex_);
  return by_id_.size();
}

}  // namespace gridmount::cursors
