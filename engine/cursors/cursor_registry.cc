#include "engine/cursors/cursor_registry.h"

#include <cstring>
#include <string>
#include <utility>

#include "engine/system/random.h"

namespace gridmount::cursors {
namespace {

constexpr ErrorCode kTooManyCursors{ErrorCode::kOperationFailed};

tl::unexpected<Error> not_found(int64_t id) {
  return fail(ErrorCode::kCursorNotFound, "cursor id " + std::to_string(id) + " not found");
}

// Returns a random id. Clients must not be able to compute the ids of others from their own, so the
// bytes come from the kernel.
Result<int64_t> random_cursor_id() {
  GM_ASSIGN(const system::RandomId bytes, system::random_id());
  uint64_t id = 0;
  std::memcpy(&id, bytes.data(), sizeof id);
  return static_cast<int64_t>(id >> 1) | 1;
}

}  // namespace

Result<int64_t> CursorRegistry::read(Waiting& waiting, const BatchLimits& limits,
                                     const Sink& sink) {
  int64_t documents = 0;
  uint64_t bytes = 0;
  uint64_t last_bytes = 0;
  const auto full = [&] { return limits.documents && documents >= *limits.documents; };
  // Returns whether another document as large as the last one would have to be held, and the limit
  // of held bytes does not allow it.
  const auto ends_early = [&] {
    return documents > 0 && bytes + last_bytes > limits.bytes &&
           held_bytes_ + last_bytes > options_.held_bytes_max;
  };
  const auto ended = [&] {
    return waiting.options.documents_max && waiting.given >= *waiting.options.documents_max;
  };
  const auto give = [&](bson::View document) {
    sink(document);
    last_bytes = document.size() + limits.bytes_per_document;
    ++documents;
    ++waiting.given;
  };
  if (waiting.held && !full()) {
    bytes += waiting.held->view().size() + limits.bytes_per_document;
    give(waiting.held->view());
    waiting.held.reset();
  }
  while (!ended()) {
    if (full() || ends_early()) return waiting.id;
    GM_ASSIGN(const std::optional<bson::View> document, waiting.cursor->next());
    if (!document) return waiting.options.tailable ? waiting.id : 0;
    bytes += document->size() + limits.bytes_per_document;
    if (documents > 0 && bytes > limits.bytes) {
      waiting.held.emplace(*document, held_bytes_);
      return waiting.id;
    }
    give(*document);
  }
  return waiting.options.tailable ? waiting.id : 0;
}

Result<int64_t> CursorRegistry::resume_and_read(Waiting& waiting, const BatchLimits& limits,
                                                const Sink& sink) {
  if (waiting.snapshot) GM_TRY(waiting.snapshot->resume());
  return read(waiting, limits, sink);
}

Result<CursorBatch> CursorRegistry::open(engine::Namespace ns,
                                         std::unique_ptr<engine::Snapshot> snapshot,
                                         std::unique_ptr<engine::Cursor> cursor,
                                         const CursorOptions& options, const BatchLimits& limits) {
  CursorBatch batch;
  GM_ASSIGN(batch.id, open(std::move(ns), std::move(snapshot), std::move(cursor), options, limits,
                           [&](bson::View document) { batch.documents.emplace_back(document); }));
  return batch;
}

Result<int64_t> CursorRegistry::open(engine::Namespace ns,
                                     std::unique_ptr<engine::Snapshot> snapshot,
                                     std::unique_ptr<engine::Cursor> cursor,
                                     const CursorOptions& options, const BatchLimits& limits,
                                     const Sink& sink) {
  Waiting waiting;
  waiting.ns = std::move(ns);
  waiting.options = options;
  waiting.snapshot = std::move(snapshot);
  waiting.cursor = std::move(cursor);
  GM_ASSIGN(waiting.id, random_cursor_id());
  GM_ASSIGN(int64_t id, read(waiting, limits, sink));
  if (id == 0) return id;
  if (waiting.snapshot) GM_TRY(waiting.snapshot->pause());
  waiting.since = Clock::now();

  std::list<Waiting> ended;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  expire_locked(waiting.since, ended);
  if (waiting_.size() >= options_.cursors_max) {
    return fail(kTooManyCursors,
                "there are " + std::to_string(waiting_.size()) +
                    " open cursors, which is the limit; read some to the end or kill some");
  }
  while (by_id_.count(waiting.id) != 0) {
    GM_ASSIGN(waiting.id, random_cursor_id());
  }
  id = waiting.id;
  waiting_.push_back(std::move(waiting));
  by_id_[id] = std::prev(waiting_.end());
  ++opened_;
  return id;
}

Result<CursorBatch> CursorRegistry::get_more(int64_t id, const engine::Namespace& ns,
                                             const BatchLimits& limits) {
  CursorBatch batch;
  GM_ASSIGN(batch.id, get_more(id, ns, limits, [&](bson::View document) {
              batch.documents.emplace_back(document);
            }));
  return batch;
}

Result<int64_t> CursorRegistry::get_more(int64_t id, const engine::Namespace& ns,
                                         const BatchLimits& limits, const Sink& sink) {
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
      return fail(ErrorCode::kCursorInUse,
                  "cursor id " + std::to_string(id) + " is already in use");
    }
    waiting.in_use = true;
    // The list element stays at its address. Only this call uses its cursor.
    taken.splice(taken.begin(), waiting_, found->second);
  }
  Waiting& waiting = taken.front();
  Result<int64_t> next = resume_and_read(waiting, limits, sink);
  const bool goes_on = next && *next != 0 && (!waiting.snapshot || waiting.snapshot->pause());

  const MutexLock lock(mutex_);
  waiting.in_use = false;
  waiting.since = Clock::now();
  if (goes_on && !waiting.killed) {
    waiting_.splice(waiting_.end(), taken);
  } else {
    by_id_.erase(id);
    if (next) next = 0;
  }
  return next;
}

CursorInfo CursorRegistry::info_of(const Waiting& waiting) {
  return {waiting.id, waiting.ns, waiting.options, waiting.in_use};
}

std::optional<CursorInfo> CursorRegistry::info(int64_t id) const {
  const MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second->killed) return std::nullopt;
  return info_of(*found->second);
}

std::vector<CursorInfo> CursorRegistry::list() const {
  const MutexLock lock(mutex_);
  std::vector<CursorInfo> infos;
  infos.reserve(by_id_.size());
  for (const auto& [id, at] : by_id_) {
    if (!at->killed) infos.push_back(info_of(*at));
  }
  return infos;
}

size_t CursorRegistry::kill_if(const std::function<bool(const CursorInfo&)>& condition) {
  std::list<Waiting> ended;  // destroyed after the lock is released
  size_t killed = 0;
  const MutexLock lock(mutex_);
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    const auto one = at++;
    Waiting& waiting = *one->second;
    if (waiting.killed || !condition(info_of(waiting))) continue;
    ++killed;
    if (waiting.in_use) {
      waiting.killed = true;
    } else {
      ended.splice(ended.begin(), waiting_, one->second);
      by_id_.erase(one);
    }
  }
  return killed;
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
  timed_out_ += static_cast<int64_t>(expired);
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

int64_t CursorRegistry::opened() const {
  const MutexLock lock(mutex_);
  return opened_;
}

int64_t CursorRegistry::timed_out() const {
  const MutexLock lock(mutex_);
  return timed_out_;
}

}  // namespace gridmount::cursors
